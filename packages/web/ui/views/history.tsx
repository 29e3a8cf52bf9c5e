/** What happened, newest first. */
import { formatAgo } from "../../src/format.ts";
import type { HistoryEntry, HistoryMessage, Topic } from "../../src/wire.ts";
import type { ViewProps } from "../view.ts";
import { t } from "../i18n.ts";
import { Command } from "../parts/command.tsx";
import { useNow, useTopic } from "../parts/hooks.ts";
import { Empty, Failed, Loading } from "../parts/states.tsx";
import { setQuery } from "../router.ts";
import type { Route } from "../router.ts";
import type { TabProps } from "./tab.ts";

export function HistoryView({ route }: ViewProps) {
  return (
    <div class="view">
      <h1>{t("History")}</h1>
      <History topic={{ name: "history" }} route={route} line="kubectl get events -A --sort-by=.lastTimestamp" />
    </div>
  );
}

export function HistoryTab({ view: { ref }, route }: TabProps) {
  const target = `${ref.kind.toLowerCase()}/${ref.name}${ref.namespace === "" ? "" : ` -n ${ref.namespace}`}`;
  return <History topic={{ name: "history", ref }} route={route} line={`flotilla describe ${target}`} />;
}

const TYPES = ["change", "decision", "warning", "event", "drift"] as const;
const words = (): Readonly<Record<HistoryEntry["type"], string>> => ({
  change: t("change"),
  decision: t("decision"),
  warning: t("warning"),
  event: t("event"),
  drift: t("drift"),
});

function History({ topic, route, line }: { topic: Topic; route: Route; line: string }) {
  const { value, error } = useTopic<HistoryMessage>(topic);
  const nowMs = useNow();
  const type = route.query.get("type") ?? "";
  const text = (route.query.get("q") ?? "").toLowerCase();
  if (error !== "") return <Failed reason={error} />;
  if (!value) return <Loading />;
  const shown = value.entries.filter(
    (entry) =>
      (type === "" || entry.type === type) &&
      (text === "" || `${entry.object} ${entry.text} ${entry.who} ${entry.place}`.toLowerCase().includes(text)),
  );
  const named = words();
  return (
    <>
      <div class="controls">
        <label>
          {t("only")}
          <select value={type} onChange={({ currentTarget }) => setQuery(route, { type: currentTarget.value })}>
            <option value="">{t("everything")}</option>
            {TYPES.map((name) => (
              <option key={name} value={name}>
                {named[name]}
              </option>
            ))}
          </select>
        </label>
        <input
          type="search"
          placeholder={t("Filter")}
          aria-label={t("Filter")}
          value={text}
          onInput={({ currentTarget }) => setQuery(route, { q: currentTarget.value })}
        />
        <span class="muted end">{t("the hub keeps events for an hour")}</span>
      </div>
      {shown.length === 0 ? (
        <Empty title={t("Nothing happened")} commands={[line]} />
      ) : (
        <ol class="timeline">
          {shown.map((entry, index) => (
            <li key={`${entry.at} ${entry.object} ${index}`}>
              <time dateTime={entry.at} title={entry.at}>
                {formatAgo(entry.at, nowMs)}
              </time>
              <span
                class={`tag ${entry.type === "warning" ? "bad" : entry.type === "drift" ? "busy" : entry.type === "change" ? "good" : ""}`}
              >
                {named[entry.type]}
              </span>
              <span class="timeline-what">
                <b>{entry.object}</b> {entry.text}
                <span class="muted">
                  {" "}
                  {entry.who}
                  {entry.place !== "hub" && ` · ${entry.place}`}
                  {entry.count > 1 && ` · ×${entry.count}`}
                </span>
              </span>
            </li>
          ))}
        </ol>
      )}
      {value.notes.map((note) => (
        <p key={note} class="busy">
          {note}
        </p>
      ))}
      <Command line={line} />
    </>
  );
}
