/**
 * What the controllers of this process write about a member, kept for a while, so that `kubectl logs` of the pods that
 * stand for them has something to show. A ring of lines for each cluster and component; a member about which nothing
 * was written costs nothing.
 */
import { messageOf } from "../../base/index.ts";
import type { Clock, Log, LogFields, LogLevel } from "../../base/index.ts";
import type { LogLine } from "../log-lines.ts";

/** Enough to see what just happened; a member costs at most this many lines for each component. */
const MAX_LINES = 500;
/** More members than a process has. What is still written about one that is gone would otherwise stay for good. */
const MAX_CLUSTERS = 4_096;
/** Longer lines are cut. */
const MAX_LINE_LENGTH = 1_000;
/** Whoever follows and does not read loses lines instead of holding them all. */
const MAX_BEHIND = 1_000;

export interface ComponentLogs {
  /** A log that keeps what it is told, and passes it on. */
  keep(log: Log): Log;
  linesOf(cluster: string, component: string): readonly LogLine[];
  follow(cluster: string, component: string, signal: AbortSignal): AsyncIterable<LogLine>;
  forget(cluster: string): void;
}

export interface ComponentLogsOptions {
  clock: Clock;
  /** Which component a controller is a part of; undefined leaves its lines out. */
  componentOf(controller: string): string | undefined;
  /** Which cluster a line of a component is about, by the key that it names; unset is the cluster of the key. */
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
    // Cut in one go now and then, which costs less than one by one.
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
        // Controllers of no component keep their own log, which is asked for in every reconcile.
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
        if (waiting.length >= MAX_BEHIND) waiting.shift();
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

/** Put into words when somebody reads it: most lines are pushed out unread. */
function keptLine(timeMs: number, level: LogLevel, message: string, fields: LogFields): LogLine {
  return {
    timeMs,
    get text() {
      return `${new Date(timeMs).toISOString()} ${describe(level, message, fields)}`;
    },
  };
}

/**
 * `2024-05-01T12:00:00.000Z INFO pods changed controller=cloneset key=shop/web revision=web-1`. Errors show what they
 * say, not where they come from.
 */
function describe(level: string, message: string, fields: LogFields): string {
  const shown = Object.entries(fields).map(
    ([name, value]) =>
      `${name}=${value instanceof Error ? JSON.stringify(messageOf(value)) : typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)}`,
  );
  return [level.toUpperCase(), message, ...shown].join(" ").slice(0, MAX_LINE_LENGTH);
}
