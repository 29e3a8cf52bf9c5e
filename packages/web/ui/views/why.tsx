/** Why the workload is where it is: the hub's own explanation, with numbers. */
import { useState } from "preact/hooks";
import type { ObjectRef } from "../../src/wire.ts";
import { formatAgo } from "../../src/format.ts";
import { t } from "../i18n.ts";
import { Command } from "../parts/command.tsx";
import { Fields } from "../parts/field-changes.tsx";
import type { FieldChange } from "../parts/field-changes.tsx";
import { useLoaded, useNow } from "../parts/hooks.ts";
import { Failed, Loading } from "../parts/states.tsx";
import { request } from "../session.ts";
import type { TabProps } from "./tab.ts";

interface ExplainedPolicy {
  kind: string;
  namespace?: string;
  name: string;
  priority: number;
  selectsBy: string;
  reason: string;
}
/** The parts of an Explanation that are shown; `flotilla why -o json` prints the same. */
export interface Explanation {
  policy?: ExplainedPolicy;
  otherPolicies: readonly ExplainedPolicy[];
  decision?: {
    source: "recorded" | "recomputed";
    at: string;
    note?: string;
    message?: string;
    affinityName?: string;
    kept: readonly { cluster: string; score?: number; available?: number; replicas?: number }[];
    rejected: readonly { by: string; reason: string; count: number; clusters: readonly string[] }[];
  };
  members: readonly {
    cluster: string;
    replicas?: number;
    state: string;
    divided: readonly FieldChange[];
    overridden: readonly FieldChange[];
    overridePolicies: readonly string[];
    applied?: boolean;
    reason?: string;
    health?: string;
    unhealthy?: string;
    message?: string;
    drift?: string;
  }[];
  moves: readonly Record<string, unknown>[];
  leaving: readonly { cluster: string; reason: string; producer: string; message?: string }[];
  problems: readonly { what: string; try: string }[];
  notChecked?: readonly string[];
}

const readWhy = ({ apiVersion, kind, namespace, name }: ObjectRef, signal: AbortSignal): Promise<Explanation> => {
  const group = apiVersion.includes("/") ? `.${apiVersion.split("/")[0] ?? ""}` : "";
  const query = new URLSearchParams({ type: `${kind.toLowerCase()}${group}`, name, namespace });
  return request<Explanation>(`why?${query.toString()}`, { signal });
};

export function WhyTab({ view: { ref, conditions } }: TabProps) {
  // The binding changed: the explanation may have, too.
  const key = JSON.stringify([ref, conditions]);
  const { value, error, reload } = useLoaded(key, (signal) => readWhy(ref, signal));
  const line = `flotilla why ${ref.kind.toLowerCase()}/${ref.name}${ref.namespace === "" ? "" : ` -n ${ref.namespace}`}`;
  if (error !== "") return <Failed reason={error} retry={reload} />;
  if (!value) return <Loading />;
  return <Why explanation={value} line={line} />;
}

export function Why({ explanation, line }: { explanation: Explanation; line: string }) {
  const { policy, otherPolicies, decision, members, moves, leaving, problems } = explanation;
  const nowMs = useNow();
  return (
    <div class="why">
      <div class="controls">
        <Command line={line} />
        {decision && (
          <span class="muted end">
            {decision.source === "recorded"
              ? t("decided {ago} ago", { ago: formatAgo(decision.at, nowMs) })
              : t("computed now; the decision itself was not recorded")}
          </span>
        )}
      </div>
      {problems.length > 0 && (
        <section class="panel problem-panel">
          <h2>{t("What is wrong")}</h2>
          <ul class="plain">
            {problems.map((problem) => (
              <li key={problem.what}>
                <p class="bad">{problem.what}</p>
                <p>
                  <span class="muted">{t("Try:")}</span> {problem.try}
                </p>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section class="panel">
        <h2>{t("Which policy")}</h2>
        {policy ? (
          <p>
            <b>
              {policy.kind} {policy.namespace === undefined ? "" : `${policy.namespace}/`}
              {policy.name}
            </b>{" "}
            {policy.reason} <span class="muted">{t("priority {priority}", { priority: policy.priority })}</span>
          </p>
        ) : (
          <p>{t("No policy selects it.")}</p>
        )}
        {otherPolicies.length > 0 && (
          <ul class="plain muted">
            {otherPolicies.map((other) => (
              <li key={`${other.kind} ${other.namespace ?? ""}/${other.name}`}>
                ✖ {other.kind} {other.namespace === undefined ? "" : `${other.namespace}/`}
                {other.name}: {other.reason}
              </li>
            ))}
          </ul>
        )}
      </section>
      {decision && <Decision decision={decision} />}
      <section class="panel">
        <h2>{t("What each member gets")}</h2>
        <div class="scroll-x" tabIndex={0} role="group" aria-label={t("What each member gets")}>
          <table>
            <thead>
              <tr>
                <th>{t("Member")}</th>
                <th>{t("Replicas")}</th>
                <th>{t("Divided")}</th>
                <th>{t("Overridden")}</th>
                <th>{t("Reports")}</th>
              </tr>
            </thead>
            <tbody>
              {members.map((member) => (
                <tr key={member.cluster}>
                  <td>
                    <b>{member.cluster}</b>
                    {member.state === "leaving" && <em class="tag busy">{t("leaving")}</em>}
                  </td>
                  <td>{member.replicas ?? "–"}</td>
                  <td>
                    <Fields changes={member.divided} />
                  </td>
                  <td>
                    {member.overridePolicies.length > 0 && <p class="muted">{member.overridePolicies.join(", ")}</p>}
                    <Fields changes={member.overridden} />
                  </td>
                  <td>
                    {member.unhealthy ??
                      (member.applied === false ? (member.reason ?? t("not applied")) : (member.health ?? "–"))}
                    {member.message !== undefined && <p class="bad">{member.message}</p>}
                    {member.drift !== undefined && <p class="busy">{member.drift}</p>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      {leaving.length + moves.length > 0 && (
        <section class="panel">
          <h2>{t("Moves")}</h2>
          <ul class="plain">
            {leaving.map((each) => (
              <li key={each.cluster}>
                <b>{each.cluster}</b> {each.reason} {each.message} <span class="muted">{each.producer}</span>
              </li>
            ))}
            {moves.map((move) => (
              <li key={JSON.stringify(move)} class="mono">
                {Object.entries(move)
                  .map(([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
                  .join(", ")}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function Decision({ decision }: { decision: NonNullable<Explanation["decision"]> }) {
  const [open, setOpen] = useState("");
  const rejected = decision.rejected.reduce((sum, { count }) => sum + count, 0);
  const all = decision.kept.length + rejected;
  /** What is left after each filter, in the order in which most were lost. */
  let left = all;
  return (
    <section class="panel">
      <h2>{t("Which members")}</h2>
      {decision.message !== undefined && <p class="bad">{decision.message}</p>}
      {decision.note !== undefined && <p class="busy">{decision.note}</p>}
      <ol class="funnel">
        <li>
          <span class="funnel-bar" style={{ width: "100%" }} />
          <b>{all}</b> {t("members")}
        </li>
        {decision.rejected.map(({ by, reason, count, clusters }) => {
          left -= count;
          const key = `${by} ${reason}`;
          return (
            <li key={key}>
              <span class="funnel-bar" style={{ width: `${(left / Math.max(1, all)) * 100}%` }} />
              <button
                type="button"
                class="quiet"
                aria-expanded={open === key}
                onClick={() => setOpen(open === key ? "" : key)}
              >
                <b>{left}</b> <span class="muted">{t("after")}</span> {by}: {reason}{" "}
                <span class="muted">(−{count})</span>
              </button>
              {open === key && <p class="muted">{clusters.join(", ")}</p>}
            </li>
          );
        })}
      </ol>
      <div class="scroll-x" tabIndex={0} role="group" aria-label={t("Members that fit")}>
        <table>
          <thead>
            <tr>
              <th>{t("Member")}</th>
              <th>{t("Score")}</th>
              <th>{t("Room for")}</th>
              <th>{t("Gets")}</th>
            </tr>
          </thead>
          <tbody>
            {decision.kept.map(({ cluster, score, available, replicas }) => (
              <tr key={cluster}>
                <td>
                  <b>{cluster}</b>
                </td>
                <td>{score ?? "–"}</td>
                <td>{available ?? "–"}</td>
                <td>{replicas ?? "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
