/** A plan: what would change where, and what speaks against it. */
import { t } from "../i18n.ts";
import type { Plan, PlannedChange } from "../plan.ts";
import { Fields } from "./field-changes.tsx";

const SIGN = { create: "+", update: "~", delete: "−" } as const;
const TONE = { create: "good", update: "busy", delete: "bad" } as const;
const MOST = 200;

export function PlanView({ plan }: { plan: Plan }) {
  const { hub, changes, problems, warnings, notes, releases = [], unplanned, unreachable = [] } = plan;
  return (
    <div class="plan">
      {[...problems, ...warnings].map(({ resource, message }) => (
        <p key={`${resource} ${message}`} class={problems.some((each) => each.message === message) ? "bad" : "busy"}>
          <b>{resource}</b> {message}
        </p>
      ))}
      {unreachable.map(({ cluster, reason }) => (
        <p key={cluster} class="busy">
          <b>{cluster}</b> {t("does not respond: {reason}", { reason })}
        </p>
      ))}
      {changes.length === 0 && hub.length === 0 && problems.length === 0 && <p>{t("Nothing would change.")}</p>}
      {hub.length > 0 && (
        <details open={changes.length === 0}>
          <summary>{t("{count} changes on the hub", { count: hub.length })}</summary>
          {hub.map((change) => (
            <Change
              key={`${change.object.kind} ${change.object.namespace ?? ""}/${change.object.name}`}
              change={change}
            />
          ))}
        </details>
      )}
      {changes.length > 0 && <h3>{t("{count} changes on members", { count: changes.length })}</h3>}
      {changes.slice(0, MOST).map((change) => (
        <Change
          key={`${change.cluster} ${change.object.kind} ${change.object.namespace ?? ""}/${change.object.name}`}
          change={change}
          place={change.cluster}
        />
      ))}
      {changes.length > MOST && <p class="muted">{t("and {count} more", { count: changes.length - MOST })}</p>}
      {releases.map(({ resource, waves, total }) => (
        <p key={resource}>
          <b>{resource}</b>{" "}
          {t("is released in {count} waves; the changes above are the first step: {waves}", {
            count: waves.length,
            waves: waves
              .map(
                ({ name, updated, before }) => `${name} ${updated}/${total}${before ? ` (${before.join(", ")})` : ""}`,
              )
              .join(" → "),
          })}
        </p>
      ))}
      {unplanned.length > 0 && (
        <p class="busy">
          {t("The effect of these on members is not planned: {names}", { names: unplanned.join(", ") })}
        </p>
      )}
      {notes.map((note) => (
        <p key={note} class="muted">
          {note}
        </p>
      ))}
    </div>
  );
}

function Change({
  change: { action, object, fields, more, note },
  place,
}: {
  change: Omit<PlannedChange, "cluster">;
  place?: string;
}) {
  return (
    <div class="change">
      <p>
        <b class={TONE[action]}>{SIGN[action]}</b> {place !== undefined && <b>{place}</b>} {object.kind}{" "}
        {object.namespace === undefined ? "" : `${object.namespace}/`}
        {object.name} {note !== undefined && <span class="muted">{note}</span>}
      </p>
      {action === "update" && <Fields changes={fields} />}
      {action === "create" && fields.length > 0 && <Fields changes={fields} />}
      {more !== undefined && more > 0 && <p class="muted">{t("and {count} more fields", { count: more })}</p>}
    </div>
  );
}
