/**
 * The two requests of a standby: `POST /replication/changes` follows this hub, `POST /replication/step-down` ends it.
 * Authorized as any path, for the verb `post`: a follower reads every Secret, so the permission to
 * read all paths, which roles of auditors have, is not enough.
 */
import { badRequest, conflict, HUB, methodNotAllowed } from "@flotilla/apimachinery";
import { formatTime, sleep } from "@flotilla/base";
import type { Clock, Log } from "@flotilla/base";
import type { ApiRequest, ApiResponse } from "../request/request.ts";
import { streamOf } from "../request/byte-streams.ts";
import type { Engine } from "../store/engine.ts";
import { CompactedError, StoreError } from "../store/errors.ts";
import { encodeLines, linesBetween, replicationLines } from "./replication-lines.ts";
import type { ReplicationLine } from "./replication-lines.ts";
import { readSuccessor, readTerm, writeSuccessor } from "./succession.ts";
import type { Successor } from "./succession.ts";

/** So that the standby distinguishes a quiet hub from a lost connection. */
const ALIVE_EVERY_MS = 1_000;
/** What a standby that steps in may still lack. */
const MAX_REST_BYTES = 64 * 1024 * 1024;
const MAX_NAME = 200;

export interface Replication {
  respond(request: ApiRequest, action: ReplicationAction): Promise<ApiResponse>;
}

export type ReplicationAction = "changes" | "step-down";

export interface ReplicationOptions {
  /** As it is stored: values that are encrypted stay so. */
  engine: Engine;
  clock: Clock;
  log: Log;
  /** What a conflict is about. */
  resource: { readonly group: string; readonly resource: string };
  /** This hub is not the hub any more. */
  onSuperseded(successor: Successor): void;
}

export function createReplication({ engine, clock, log, resource, onSuperseded }: ReplicationOptions): Replication {
  return {
    async respond(request, action) {
      const { method, query, signal } = request;
      if (method !== "POST") throw methodNotAllowed();
      const after = numberIn(query, "after");
      if (action === "step-down") return stepDown(query, after);
      const term = await readTerm(engine);
      log.info("a standby follows", { after: after ?? 0, user: request.user.name });
      return {
        status: 200,
        headers: HEADERS,
        body: streamOf(chunksOf(replicationLines(engine, { after, term }, signal), clock, signal)),
      };
    },
  };

  async function stepDown(query: URLSearchParams, after: number | undefined): Promise<ApiResponse> {
    const term = numberIn(query, "term");
    const name = query.get("name") ?? "";
    if (term === undefined || name === "" || name.length > MAX_NAME)
      throw badRequest("term and name of the hub that takes over are required");
    const own = await readTerm(engine);
    if (term <= own)
      throw conflict(resource, HUB, `this hub has term ${own}, and is not replaced by a hub of term ${term}`);
    // Before the decision: what cannot be sent must not be lost.
    if (after !== undefined) await collect(after, await engine.revision());
    const successor = { term, name, at: formatTime(clock.now()) };
    const revision = await writeSuccessor(engine, successor);
    if (revision === undefined) {
      const other = await readSuccessor(engine);
      if (other?.term !== term || other.name !== name)
        throw conflict(resource, HUB, `this hub was already replaced by ${other?.name ?? "another one"}`);
    } else log.warn("this hub was replaced and takes no more writes", { term, name });
    const newest = await engine.revision();
    const lines: ReplicationLine[] = after === undefined ? [] : await collect(after, newest);
    lines.push({ type: "REVISION", revision: newest });
    onSuperseded(successor);
    return { status: 200, headers: HEADERS, body: [...encodeLines(lines)] };
  }

  async function collect(after: number, upTo: number): Promise<ReplicationLine[]> {
    try {
      return await linesBetween(engine, after, upTo, MAX_REST_BYTES);
    } catch (error) {
      if (error instanceof CompactedError || (error instanceof StoreError && error.message.includes("too far behind")))
        throw conflict(resource, HUB, "the standby is too far behind; wait until it has caught up");
      throw error;
    }
  }
}

const HEADERS = { "content-type": "application/json", "cache-control": "no-cache, private" };

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw badRequest(`${name} must be a number`);
  return value;
}

/** The lines, and a sign of life when there are none for a second. */
async function* chunksOf(
  lines: AsyncGenerator<ReplicationLine[], void, undefined>,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  let next = lines.next();
  for (;;) {
    const quiet = new AbortController();
    const silence = sleep(clock, ALIVE_EVERY_MS, quiet.signal).then(
      () => "silence" as const,
      () => "silence" as const,
    );
    const first = await Promise.race([next, silence]).finally(() => quiet.abort());
    if (signal.aborted) return;
    if (first === "silence") {
      yield* encodeLines([{ type: "ALIVE" }]);
      continue;
    }
    if (first.done) return;
    yield* encodeLines(first.value);
    next = lines.next();
  }
}
