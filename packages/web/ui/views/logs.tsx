/** The logs of a workload over all members, merged; and a terminal in one of its pods. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ComponentType } from "preact";
import type { LogLine, LogsMessage } from "../../src/wire.ts";
import { t } from "../i18n.ts";
import { Command } from "../parts/command.tsx";
import { Empty } from "../parts/states.tsx";
import { withoutControls } from "../../src/plain-text.ts";
import { setQuery } from "../router.ts";
import { subscribe } from "../stream.ts";
import type { TerminalProps } from "./terminal.tsx";
import type { TabProps } from "./tab.ts";

/** Memory stays flat, however long a page follows. */
const MAX_LINES = 5_000;
const ROW = 18;

interface State {
  lines: LogLine[];
  lost: number;
  dropped: number;
  notes: readonly string[];
  sources: LogsMessage["sources"];
}
const NOTHING: State = { lines: [], lost: 0, dropped: 0, notes: [], sources: [] };

export function LogsTab({ view, route }: TabProps) {
  const { ref } = view;
  const { query } = route;
  const [member, pod, container, pattern, terminal] = ["member", "pod", "container", "q", "terminal"].map(
    (name) => query.get(name) ?? "",
  );
  const [state, setState] = useState<State>(NOTHING);
  const [error, setError] = useState("");
  const [paused, setPaused] = useState(false);
  const isPaused = useRef(paused);
  isPaused.current = paused;
  const held = useRef<LogsMessage[]>([]);
  const topic = JSON.stringify({
    name: "logs",
    ref,
    tail: 200,
    members: member === "" ? undefined : [member],
    pod: pod || undefined,
    container: container || undefined,
  });
  useEffect(() => {
    setState(NOTHING);
    setError("");
    held.current = [];
    let waiting: LogsMessage[] = [];
    let frame = 0;
    const take = (messages: LogsMessage[]): void =>
      setState((old) => {
        const lines = [...old.lines, ...messages.flatMap((message) => message.lines)];
        const over = Math.max(0, lines.length - MAX_LINES);
        const last = messages.at(-1);
        return {
          lines: over > 0 ? lines.slice(over) : lines,
          dropped: old.dropped + over,
          lost: old.lost + messages.reduce((sum, { lost }) => sum + lost, 0),
          notes: last?.notes ?? old.notes,
          sources: last?.sources ?? old.sources,
        };
      });
    const stop = subscribe<LogsMessage>(
      JSON.parse(topic),
      (message) => {
        if (isPaused.current) {
          // What arrives while reading is bounded, too.
          held.current = [...held.current, message].slice(-200);
          return;
        }
        waiting.push(...held.current.splice(0), message);
        frame ||= requestAnimationFrame(() => {
          frame = 0;
          take(waiting);
          waiting = [];
        });
      },
      setError,
    );
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [topic]);
  const test = useMemo(() => matcher(pattern ?? ""), [pattern]);
  const lines = useMemo(() => (test ? state.lines.filter(({ text }) => test(text)) : state.lines), [state.lines, test]);
  const members = view.copies.map((copy) => copy.member);
  const pods = view.copies
    .filter((copy) => member === "" || copy.member === member)
    .flatMap((copy) => copy.pods.map(({ name }) => name));
  const line =
    `flotilla logs ${pod === "" ? `${ref.kind.toLowerCase()}/${ref.name}` : pod} -n ` +
    `${ref.namespace}${member === "" ? "" : ` --clusters ${member}`} -f`;
  const set = (name: string) => (event: { currentTarget: { value: string } }) =>
    setQuery(route, { [name]: event.currentTarget.value });
  return (
    <div class="logs">
      <div class="controls">
        <label>
          {t("member")}
          <select
            value={member}
            onChange={({ currentTarget }) => setQuery(route, { member: currentTarget.value, pod: "" })}
          >
            <option value="">{t("all")}</option>
            {members.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          {t("pod")}
          <select value={pod} onChange={set("pod")}>
            <option value="">{t("all")}</option>
            {pods.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <input
          type="search"
          placeholder={t("Text or /regular expression/")}
          aria-label={t("Filter lines")}
          value={pattern}
          onInput={set("q")}
        />
        <button type="button" onClick={() => setPaused(!paused)} aria-pressed={paused}>
          {paused ? t("Follow again") : t("Pause")}
        </button>
        <button type="button" onClick={() => download(lines, `${ref.name}.log`)}>
          {t("Download")}
        </button>
        <span class="muted end">
          {t("{count} lines kept", { count: state.lines.length })}
          {state.dropped > 0 && ` · ${t("{count} older ones dropped", { count: state.dropped })}`}
          {state.lost > 0 && <b class="bad"> · {t("{count} lost", { count: state.lost })}</b>}
        </span>
      </div>
      {error !== "" ? (
        <Empty title={t("There are no logs")}>{error}</Empty>
      ) : (
        <Lines lines={lines} follow={!paused} members={members} />
      )}
      {state.notes.map((note) => (
        <p key={note} class="busy">
          {note}
        </p>
      ))}
      <Command line={line} />
      {terminal !== "" && member !== "" && pod !== "" && (
        <LoadedTerminal
          member={member ?? ""}
          namespace={ref.namespace}
          pod={pod ?? ""}
          container={terminal ?? ""}
          close={() => setQuery(route, { terminal: "" })}
        />
      )}
    </div>
  );
}

function LoadedTerminal(props: TerminalProps) {
  const [component, setComponent] = useState<{ Terminal: ComponentType<TerminalProps> } | undefined>(undefined);
  useEffect(() => void import("./terminal.tsx").then(({ Terminal }) => setComponent({ Terminal })), []);
  return component ? <component.Terminal key={`${props.member}/${props.pod}/${props.container}`} {...props} /> : null;
}

/** `/expression/`, or a text; an expression that is not finished yet matches as text. */
function matcher(pattern: string): ((text: string) => boolean) | undefined {
  if (pattern === "") return undefined;
  const expression = /^\/(.+)\/$/.exec(pattern)?.[1];
  if (expression !== undefined) {
    try {
      const compiled = new RegExp(expression, "i");
      return (text) => compiled.test(text);
    } catch {
      return (text) => text.includes(expression);
    }
  }
  const wanted = pattern.toLowerCase();
  return (text) => text.toLowerCase().includes(wanted);
}

function Lines({ lines, follow, members }: { lines: readonly LogLine[]; follow: boolean; members: readonly string[] }) {
  const element = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 400 });
  const isAtEnd = useRef(true);
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const measure = (): void => {
      isAtEnd.current = target.scrollTop + target.clientHeight >= target.scrollHeight - 2 * ROW;
      setView({ top: target.scrollTop, height: target.clientHeight });
    };
    measure();
    target.addEventListener("scroll", measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(target);
    return () => {
      target.removeEventListener("scroll", measure);
      observer.disconnect();
    };
  }, []);
  useEffect(() => {
    const target = element.current;
    if (target && follow && isAtEnd.current) target.scrollTop = target.scrollHeight;
  }, [lines, follow]);
  const first = Math.max(0, Math.floor(view.top / ROW) - 10);
  const last = Math.min(lines.length, Math.ceil((view.top + view.height) / ROW) + 10);
  return (
    <div class="log-lines" ref={element} tabIndex={0} role="log" aria-label={t("Log lines")} aria-live="off">
      <div style={{ height: `${lines.length * ROW}px` }}>
        {lines.slice(first, last).map((line, offset) => (
          <div key={first + offset} class="log-line" style={{ transform: `translateY(${(first + offset) * ROW}px)` }}>
            <span class="muted">{line.time.slice(11, 23)}</span>
            <span class={`log-member hue-${members.indexOf(line.member) % 6}`}>{line.member}</span>
            <span class="muted">{line.pod}</span>
            <span class="log-text">{withoutControls(line.text)}</span>
          </div>
        ))}
      </div>
    </div>
  );
}

function download(lines: readonly LogLine[], name: string): void {
  const text = lines.map(
    ({ time, member, pod, container, text: line }) => `${time} ${member} ${pod} ${container} ${line}\n`,
  );
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(text, { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
