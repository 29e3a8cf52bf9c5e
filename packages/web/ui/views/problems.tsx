/** What is wrong, worst first, with what to do about it. */
import { useMemo, useState } from "preact/hooks";
import type { Finding } from "../../src/wire.ts";
import type { ViewProps } from "../view.ts";
import { useFleet } from "../fleet-store.ts";
import { t } from "../i18n.ts";
import { Command } from "../parts/command.tsx";
import { Glyph } from "../parts/glyph.tsx";
import { Empty, Failed, Loading } from "../parts/states.tsx";
import { href, objectPath, setQuery } from "../router.ts";

const SNOOZED = "flotilla.snoozed";
const HOUR_MS = 3_600_000;

/** In this browser only: others see the problem as before. */
function readSnoozed(): Record<string, number> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(SNOOZED) ?? "{}");
    return typeof stored === "object" && stored !== null ? (stored as Record<string, number>) : {};
  } catch {
    return {};
  }
}

export function ProblemsView({ route }: ViewProps) {
  const fleet = useFleet();
  const [snoozed, setSnoozed] = useState(readSnoozed);
  const [cursor, setCursor] = useState(0);
  const from = route.query.get("from") ?? "";
  const showSnoozed = route.query.get("snoozed") === "1";
  const isSnoozed = ({ id }: Finding): boolean => (snoozed[id] ?? 0) > Date.now();
  const all = fleet.findings;
  const shown = useMemo(
    () => all.filter((finding) => (from === "" || finding.from === from) && isSnoozed(finding) === showSnoozed),
    [fleet.version, from, showSnoozed, snoozed],
  );
  if (fleet.error !== "" && !fleet.loaded) return <Failed reason={fleet.error} />;
  if (!fleet.checked) return <Loading />;
  const snooze = (finding: Finding, ms: number): void => {
    const kept = Object.entries({ ...readSnoozed(), [finding.id]: Date.now() + ms }).filter(
      ([, untilMs]) => untilMs > Date.now(),
    );
    localStorage.setItem(SNOOZED, JSON.stringify(Object.fromEntries(kept)));
    setSnoozed(Object.fromEntries(kept));
  };
  const count = all.filter(isSnoozed).length;
  const focus = (index: number): void => {
    const next = Math.max(0, Math.min(shown.length - 1, index));
    setCursor(next);
    document.getElementById(`finding-${next}`)?.focus();
  };
  return (
    <div
      class="view problems"
      onKeyDown={(event) => {
        if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return;
        const finding = shown[cursor];
        if (event.key === "j" || event.key === "ArrowDown") focus(cursor + 1);
        else if (event.key === "k" || event.key === "ArrowUp") focus(cursor - 1);
        else if (event.key === "s" && finding) snooze(finding, showSnoozed ? -1 : HOUR_MS);
        else return;
        event.preventDefault();
      }}
    >
      <div class="controls">
        <h1>{t("Problems")}</h1>
        <label>
          {t("found by")}
          <select value={from} onChange={({ currentTarget }) => setQuery(route, { from: currentTarget.value })}>
            <option value="">{t("every check")}</option>
            {[...new Set(all.map((each) => each.from))].sort().map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={showSnoozed}
            onChange={() => setQuery(route, { snoozed: showSnoozed ? "" : "1" })}
          />
          {t("snoozed ({count})", { count })}
        </label>
        <span class="end muted">
          <kbd>j</kbd> <kbd>k</kbd> {t("move")} · <kbd>s</kbd> {t("snooze")}
        </span>
      </div>
      {shown.length === 0 ? (
        <Empty
          title={showSnoozed ? t("Nothing is snoozed") : t("No problems found")}
          commands={showSnoozed ? [] : ["flotilla doctor", "flotilla status"]}
        >
          {!showSnoozed && t("These commands run the same checks.")}
        </Empty>
      ) : (
        <ul class="findings">
          {shown.map((finding, index) => (
            <li key={finding.id}>
              <article
                id={`finding-${index}`}
                class={`panel finding ${finding.severity}`}
                tabIndex={0}
                onFocus={() => setCursor(index)}
              >
                <header>
                  <Glyph
                    tone={finding.severity === "problem" ? "bad" : "busy"}
                    label={finding.severity === "problem" ? t("problem") : t("warning")}
                  />
                  <h2>
                    <About finding={finding} />
                  </h2>
                  <span class="tag">{finding.from}</span>
                  <button type="button" class="quiet" onClick={() => snooze(finding, showSnoozed ? -1 : HOUR_MS)}>
                    {showSnoozed ? t("show again") : t("snooze for an hour")}
                  </button>
                </header>
                <p>{finding.seen}</p>
                {finding.fix !== "" && (
                  <p class="fix">
                    <span class="muted">{t("Try:")}</span> {finding.fix}
                  </p>
                )}
                <div class="commands">
                  {finding.commands.map((line) => (
                    <Command key={line} line={line} />
                  ))}
                </div>
              </article>
            </li>
          ))}
        </ul>
      )}
      {fleet.checked.notChecked.length > 0 && (
        <details class="panel">
          <summary>{t("{count} things could not be checked", { count: fleet.checked.notChecked.length })}</summary>
          <ul>
            {fleet.checked.notChecked.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

/** A link where the page has a view of the object. */
function About({ finding: { about, object } }: { finding: Finding }) {
  const { members, workloads } = useFleet();
  if (object?.kind === "member" && members.some(({ name }) => name === object.name))
    return <a href={href(["member", object.name])}>{about}</a>;
  const row =
    object &&
    workloads.find(
      ({ kind, namespace, name }) => kind === object.kind && namespace === object.namespace && name === object.name,
    );
  return row ? <a href={objectPath(row, "why")}>{about}</a> : <>{about}</>;
}
