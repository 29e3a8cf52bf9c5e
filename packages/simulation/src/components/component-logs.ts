/**
 * Log lines that the controllers of this process wrote about a member, kept for a while so that `kubectl logs` of the
 * pods that represent these controllers can show them. There is a ring of lines per cluster and component; a member
 * without lines costs nothing.
 */
import { messageOf } from "@flotilla/base";
import type { Clock, Log, LogFields, LogLevel } from "@flotilla/base";
import type { LogLine } from "../exec/log-lines.ts";

/** Enough to show recent activity; a member costs at most this many lines per component. */
const MAX_LINES = 500;
/** More than the members of any process. Without it, lines about deleted members would stay forever. */
const MAX_CLUSTERS = 4_096;
/** Longer lines are truncated. */
const MAX_LINE_LENGTH = 1_000;
/** A follower that does not read loses lines instead of buffering all of them. */
const MAX_BUFFERED = 1_000;

export interface ComponentLogs {
  /** Returns a log that records its lines here and passes them on to `log`. */
  keep(log: Log): Log;
  linesOf(cluster: string, component: string): readonly LogLine[];
  follow(cluster: string, component: string, signal: AbortSignal): AsyncIterable<LogLine>;
  forget(cluster: string): void;
}

export interface ComponentLogsOptions {
  clock: Clock;
  /** The component that a controller belongs to; lines of controllers for which it returns undefined are not kept. */
  componentOf(controller: string): string | undefined;
  /** The cluster that a line of a component is about, from the key in the line; unset means the cluster of the key. */
  clusterOf?(component: string, key: string): string | undefined;
}

type Follower = (line: LogLine) => void;

export function createComponentLogs({ clock, componentOf, clusterOf }: ComponentLogsOptions): ComponentLogs {
  const rings = new Map<string, Map<string, LogLine[]>>();
  const followers = new Map<string, Set<Follower>>();
  const idOf = (cluster: string, component: string): string => `${cluster}/${component}`;

  const note = (cluster: string, component: string, line: LogLine): void => {
    let components = rings.get(cluster);
    if (!components) {
      const [oldest = ""] = rings.size >= MAX_CLUSTERS ? rings.keys() : [];
      rings.delete(oldest);
      rings.set(cluster, (components = new Map()));
    }
    let lines = components.get(component);
    if (!lines) components.set(component, (lines = []));
    lines.push(line);
    // Trimmed in batches, which costs less than removing lines one by one.
    if (lines.length > MAX_LINES * 1.5) lines.splice(0, lines.length - MAX_LINES);
    for (const follower of followers.get(idOf(cluster, component)) ?? []) follower(line);
  };

  const write = (level: LogLevel, message: string, fields: LogFields): void => {
    const { controller, key } = fields;
    const component = typeof controller === "string" ? componentOf(controller) : undefined;
    if (component === undefined || typeof key !== "string") return;
    const slash = key.indexOf("/");
    const cluster = clusterOf?.(component, key) ?? key.slice(0, slash);
    if (slash > 0)
      note(cluster, component, keptLine(clock.now(), level, message, { ...fields, key: key.slice(slash + 1) }));
  };

  const wrap = (log: Log, base: LogFields): Log => {
    const at =
      (level: Exclude<LogLevel, "silent">) =>
      (message: string, fields?: LogFields): void => {
        log[level](message, fields);
        write(level, message, fields ? { ...base, ...fields } : base);
      };
    return {
      debug: at("debug"),
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      with(fields) {
        const inner = log.with(fields);
        const { controller } = fields;
        // Controllers without a component keep their own log, because every reconcile asks for it.
        return typeof controller === "string" && componentOf(controller) === undefined
          ? inner
          : wrap(inner, { ...base, ...fields });
      },
    };
  };

  return {
    keep: (log) => wrap(log, {}),
    linesOf: (cluster, component) => rings.get(cluster)?.get(component)?.slice(-MAX_LINES) ?? [],
    async *follow(cluster, component, signal) {
      const waiting: LogLine[] = [];
      let wake = (): void => {};
      const follower: Follower = (line) => {
        if (waiting.length >= MAX_BUFFERED) waiting.shift();
        waiting.push(line);
        wake();
      };
      const onAbort = (): void => wake();
      const id = idOf(cluster, component);
      const known = followers.get(id) ?? new Set();
      followers.set(id, known.add(follower));
      signal.addEventListener("abort", onAbort);
      try {
        while (!signal.aborted) {
          const line = waiting.shift();
          if (line) yield line;
          else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
      } finally {
        signal.removeEventListener("abort", onAbort);
        known.delete(follower);
        if (known.size === 0) followers.delete(id);
      }
    },
    forget: (cluster) => void rings.delete(cluster),
  };
}

/** Formatted on read: most lines are evicted unread. */
function keptLine(timeMs: number, level: LogLevel, message: string, fields: LogFields): LogLine {
  return {
    timeMs,
    get text() {
      return `${new Date(timeMs).toISOString()} ${describe(level, message, fields)}`;
    },
  };
}

/**
 * `2024-05-01T12:00:00.000Z INFO pods changed controller=cloneset key=shop/web revision=web-1`. Errors are shown by
 * message, without the stack.
 */
function describe(level: string, message: string, fields: LogFields): string {
  const shown = Object.entries(fields).map(
    ([name, value]) =>
      `${name}=` +
      (value instanceof Error
        ? JSON.stringify(messageOf(value))
        : typeof value === "string" && /^[^\s"=]+$/.test(value)
          ? value
          : JSON.stringify(value)),
  );
  return [level.toUpperCase(), message, ...shown].join(" ").slice(0, MAX_LINE_LENGTH);
}
