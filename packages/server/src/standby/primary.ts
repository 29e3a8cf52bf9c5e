/** The hub that a standby follows, over its API. */
import { HUB } from "@flotilla/apimachinery";
import { MAX_LINE_CHARACTERS } from "@flotilla/apiserver";
import type { Replica, ReplicationLine } from "@flotilla/apiserver";
import { FlotillaError } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { Transport } from "@flotilla/client";

type Change = Parameters<Replica["apply"]>[0][number];

/** A primary that sends nothing for this long is asked again. */
const SILENCE_MS = 5_000;
/** Of a copy, that many entries are written together. */
const COPY_BATCH = 1_000;

export interface Progress {
  /** The term of the primary. */
  term: number;
  /** Whether the copy is one that can be promoted. */
  isComplete: boolean;
}

/** Follows until the primary ends the stream, the connection breaks, or the signal aborts. */
export async function follow(
  {
    transport,
    replica,
    clock,
    onProgress,
  }: { transport: Transport; replica: Replica; clock: Clock; onProgress(now: Progress): void },
  signal: AbortSignal,
): Promise<void> {
  const silent = new AbortController();
  const stop = AbortSignal.any([signal, silent.signal]);
  const after = replica.revision > 0 ? `?after=${replica.revision}` : "";
  const response = await transport.raw({ method: "POST", path: `/replication/changes${after}`, cluster: HUB }, stop);
  if (response.status !== 200) throw await failureOf(response);
  const notice = (): ReturnType<Clock["after"]> =>
    clock.after(SILENCE_MS, () => silent.abort(new FlotillaError("Standby", "the primary sends nothing any more")));
  let timer = notice();
  const receiver = createReceiver(replica, onProgress);
  try {
    for await (const lines of linesIn(response.body)) {
      timer.cancel();
      timer = notice();
      receiver.take(lines);
    }
  } finally {
    timer.cancel();
    receiver.end();
  }
}

/** Writes what arrives: changes with the revision that they lead to, and a copy when it is complete. */
export function createReceiver(
  replica: Replica,
  onProgress: (now: Progress) => void = () => {},
): { take(lines: readonly ReplicationLine[]): void; end(): void } {
  let copy: ReturnType<Replica["begin"]> | undefined;
  let changes: Change[] = [];
  let term = 0;
  const takeOne = (line: ReplicationLine): void => {
    switch (line.type) {
      case "COPY":
        copy?.abandon();
        copy = replica.begin();
        term = line.term;
        break;
      case "CONTINUE":
        term = line.term;
        break;
      case "CHANGE":
        changes.push({
          key: line.key,
          revision: line.revision,
          value: line.value === null ? null : Buffer.from(line.value, "base64"),
        });
        if (copy && changes.length >= COPY_BATCH) copy.add(changes.splice(0));
        break;
      case "REVISION":
        if (copy) {
          copy.add(changes.splice(0));
          copy.complete(line.revision);
          copy = undefined;
        } else if (line.revision > replica.revision) replica.apply(changes.splice(0), line.revision);
        changes = [];
        break;
      case "ALIVE":
    }
  };
  return {
    take(lines) {
      for (const line of lines) takeOne(line);
      onProgress({ term, isComplete: copy === undefined && replica.revision > 0 });
    },
    end() {
      copy?.abandon();
      copy = undefined;
    },
  };
}

/** Ends the primary: afterwards it writes nothing. Returns the changes that the replica lacks. */
export async function stepDown(
  transport: Transport,
  { term, name, after }: { term: number; name: string; after?: number },
  signal: AbortSignal,
): Promise<ReplicationLine[]> {
  const query = new URLSearchParams({ term: String(term), name });
  if (after !== undefined) query.set("after", String(after));
  const response = await transport.raw(
    { method: "POST", path: `/replication/step-down?${query.toString()}`, cluster: HUB },
    signal,
  );
  if (response.status !== 200) throw await failureOf(response);
  const lines: ReplicationLine[] = [];
  for await (const some of linesIn(response.body)) lines.push(...some);
  return lines;
}

/** The primary has answered, and not as wanted. */
export class RefusedError extends FlotillaError {
  constructor(message: string) {
    super("Standby", message);
  }
}

async function failureOf({ status, body }: { status: number; body: AsyncIterable<Uint8Array> }): Promise<RefusedError> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  let message = text.trim().slice(0, 500);
  try {
    message = (JSON.parse(text) as { message?: string }).message ?? message;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error; // A page as text.
  }
  return new RefusedError(`the primary answered ${status}: ${message}`);
}

async function* linesIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<ReplicationLine[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE_CHARACTERS) throw new RefusedError("the primary sends a line that is too long");
    if (lines.length > 0) yield lines.map((line) => JSON.parse(line) as ReplicationLine);
  }
}
