/**
 * The newest decisions of the controllers, in memory and in a file of the data directory, both of bounded size. It works
 * without an audit policy; with an audit log, every decision is a line there, too (docs/adr/0042).
 */
import { readFile } from "node:fs/promises";
import type { ObjectSource } from "@flotilla/apimachinery";
import { invalid, schemaErrors } from "@flotilla/apimachinery";
import type { Action, AuditLine } from "@flotilla/apiserver";
import { formatTime, isObject } from "@flotilla/base";
import type { Clock, JsonObject, Log } from "@flotilla/base";
import { Decision } from "@flotilla/flotilla";
import { openLogFile } from "../process/log-file.ts";

/** The file in the data directory. */
export const DECISIONS_FILE = "decisions.jsonl";
/** About 6 MB, which a fleet needs weeks for, unless it moves everything. */
const MAX_DECISIONS = 10_000;
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const KEPT_FILES = 2;
/** A decision is about a kilobyte; a client that sends more than this is not one of our controllers. */
const MAX_DECISION_BYTES = 64 * 1024;

export interface DecisionLog {
  /** Reads the decisions of an earlier start. */
  load(): Promise<void>;
  /** What the API serves. */
  readonly source: ObjectSource;
  /** Takes a decision that a controller sends. */
  readonly action: Action;
  close(): Promise<void>;
}

export interface DecisionLogOptions {
  /** Unset keeps them in memory only. */
  path?: string | undefined;
  maxDecisions?: number;
  clock: Clock;
  log: Log;
  /** Receives every decision. */
  onDecision?: ((line: AuditLine) => void) | undefined;
}

export function createDecisionLog(options: DecisionLogOptions): DecisionLog {
  const { path, maxDecisions = MAX_DECISIONS, clock, log, onDecision } = options;
  /** As JSON, which takes a third of the memory; by name, oldest first. */
  let records = new Map<string, string>();
  let last = { ms: 0, count: 0 };
  const file =
    path === undefined
      ? undefined
      : openLogFile({
          path,
          maxBytes: MAX_FILE_BYTES,
          kept: KEPT_FILES,
          onProblem: (error) => log.warn("decisions cannot be written to their file", { path, error }),
        });

  /** Names are in the order of time. */
  function nextName(): string {
    const ms = Math.max(clock.now(), last.ms);
    last = { ms, count: ms === last.ms ? last.count + 1 : 0 };
    return `${ms.toString(36).padStart(9, "0")}-${last.count.toString(36).padStart(4, "0")}`;
  }

  function keep(name: string, text: string): void {
    records.set(name, text);
    if (records.size <= maxDecisions) return;
    const [oldest] = records.keys();
    if (oldest !== undefined) records.delete(oldest);
  }

  function append(sent: Decision, user: string): Decision {
    const decision: Decision = {
      ...sent,
      metadata: { name: nextName(), creationTimestamp: formatTime(clock.now()) },
      actor: { ...sent.actor, user },
    };
    const text = JSON.stringify(decision);
    keep(decision.metadata.name, text);
    file?.write(`${text}\n`);
    onDecision?.({ text, asEvent: () => eventOf(decision) });
    return decision;
  }

  return {
    async load() {
      if (path === undefined) return;
      const texts: string[] = [];
      for (let number = KEPT_FILES; number >= 0; number--)
        texts.push(await readIfThere(number === 0 ? path : `${path}.${number}`));
      const found = texts
        .flatMap((text) => text.split("\n"))
        .slice(-maxDecisions - 1)
        .flatMap((line) => {
          const name = nameIn(line);
          return name === undefined ? [] : [[name, line] as const];
        });
      records = new Map([...found, ...records].slice(-maxDecisions));
    },
    source: {
      get(_cluster, _namespace, name) {
        const text = records.get(name);
        return text === undefined ? undefined : (JSON.parse(text) as JsonObject);
      },
      list: () => Array.from(records.values(), (text) => JSON.parse(text) as JsonObject),
    },
    action: {
      group: Decision.group,
      resource: Decision.plural,
      async run(_deps, { user }, input) {
        const { object } = input.object();
        const sent = { ...object, metadata: { name: "new" } } as unknown as Decision;
        const errors = schemaErrors(Decision, { object: sent });
        if (JSON.stringify(object).length > MAX_DECISION_BYTES)
          errors.push({
            type: "TooLong",
            field: "",
            message: `must have at most ${MAX_DECISION_BYTES} bytes`,
          } as never);
        if (errors.length > 0) throw invalid(Decision.group, Decision.kind, "", errors);
        return { type: "object", object: append(sent, user.name) as unknown as JsonObject, code: 201 };
      },
    },
    close: async () => file?.close(),
  };
}

/** The request that recorded the decision, as an event of `audit.k8s.io/v1`. */
function eventOf(decision: Decision): string {
  return JSON.stringify({
    kind: "Event",
    apiVersion: "audit.k8s.io/v1",
    level: "Request",
    auditID: decision.metadata.name,
    stage: "ResponseComplete",
    requestURI: "/apis/flotilla.dev/v1alpha1/decisions",
    verb: "create",
    user: { username: decision.actor.user },
    objectRef: {
      resource: Decision.plural,
      apiGroup: Decision.group,
      apiVersion: "v1alpha1",
      name: decision.metadata.name,
    },
    responseStatus: { metadata: {}, code: 201 },
    requestObject: decision,
    requestReceivedTimestamp: decision.time,
    stageTimestamp: decision.time,
  });
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** A line that was cut off by a crash is skipped. */
function nameIn(line: string): string | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const metadata = isObject(value) ? value["metadata"] : undefined;
    return isObject(metadata) && typeof metadata["name"] === "string" ? metadata["name"] : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
