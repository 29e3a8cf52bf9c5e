/** A hub for tests of the console: each path has an answer that the test gives, as JSON or as a stream it writes to. */
import { INITIAL_EVENTS_END } from "@flotilla/client";
import type { Client, RawResponse } from "@flotilla/client";
import type { Json, JsonObject } from "@flotilla/base";

/** An answer that does not end by itself. */
interface TestStream {
  /** The requested path with its query. */
  readonly url: URL;
  readonly isOpen: boolean;
  write(text: string): void;
  /** Ends it in an orderly way, or breaks it. */
  end(failure?: Error): void;
}

export interface TestHub {
  client: Client;
  /** Paths with their queries, in order. */
  readonly requests: readonly URL[];
  /** Answers a path with this status and object from now on. */
  answer(path: string, object: JsonObject, status?: number): void;
  /** Answers a path with a stream from now on; the newest one is returned by `streamOf`. */
  stream(path: string): void;
  streamsOf(path: string): readonly TestStream[];
  /** The newest open stream. */
  streamOf(path: string): TestStream;
  /** Everything that was started has run as far as it can without the clock. */
  settle(): Promise<void>;
}

const APPS = { name: "deployments", kind: "Deployment", namespaced: true };
const PODS = { name: "pods", kind: "Pod", namespaced: true };

export function createTestHub(): TestHub {
  const requests: URL[] = [];
  const answers = new Map<string, { object: JsonObject; status: number } | "stream">();
  const streams = new Map<string, TestStream[]>();

  const raw: Client["raw"] = async ({ path }, signal): Promise<RawResponse> => {
    signal?.throwIfAborted();
    const url = new URL(path, "https://hub");
    requests.push(url);
    await Promise.resolve();
    const answer = answers.get(url.pathname) ?? { object: { message: `${url.pathname} not found` }, status: 404 };
    const headers = { "content-type": "application/json" };
    if (answer !== "stream") {
      const text = JSON.stringify(answer.object);
      return { status: answer.status, headers, body: once(Buffer.from(text)) };
    }
    const { stream, body } = openStream(url, signal);
    streams.set(url.pathname, [...(streams.get(url.pathname) ?? []), stream]);
    return { status: 200, headers, body };
  };
  const hub: TestHub = {
    client: { raw } as Client,
    requests,
    answer: (path, object, status = 200) => void answers.set(path, { object, status }),
    stream: (path) => void answers.set(path, "stream"),
    streamsOf: (path) => streams.get(path) ?? [],
    streamOf(path) {
      const open = (streams.get(path) ?? []).findLast(({ isOpen }) => isOpen);
      if (!open) throw new Error(`no open stream of ${path}`);
      return open;
    },
    async settle() {
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    },
  };
  hub.answer("/apis/apps/v1", { resources: [APPS] });
  hub.answer("/api/v1", { resources: [PODS] });
  return hub;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function openStream(
  url: URL,
  signal: AbortSignal | undefined,
): { stream: TestStream; body: AsyncIterable<Uint8Array> } {
  const chunks: string[] = [];
  let isOpen = true;
  let failure: Error | undefined;
  let wake = (): void => {};
  const end = (error?: Error): void => {
    isOpen = false;
    failure ??= error;
    wake();
  };
  signal?.addEventListener("abort", () => end(new Error("aborted")));
  async function* read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = chunks.shift();
      if (chunk !== undefined) yield Buffer.from(chunk);
      else if (failure) throw failure;
      else if (!isOpen) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  return {
    body: read(),
    stream: {
      url,
      get isOpen() {
        return isOpen;
      },
      write(text) {
        chunks.push(text);
        wake();
      },
      end,
    },
  };
}

let versions = 0;

/** One line of a watch. */
export function watchEvent(
  type: "ADDED" | "MODIFIED" | "DELETED",
  object: string | { metadata: { name: string; namespace: string }; [field: string]: Json },
): string {
  const whole = typeof object === "string" ? { metadata: { name: object, namespace: "shop" } } : object;
  versions += 1;
  const metadata = { uid: whole.metadata.name, resourceVersion: String(versions), ...whole.metadata };
  return `${JSON.stringify({ type, object: { ...whole, metadata } })}\n`;
}

/** The lines of a complete list at the start of a watch. */
export const watchEvents = (...objects: Parameters<typeof watchEvent>[1][]): string[] => [
  ...objects.map((object) => watchEvent("ADDED", object)),
  `${JSON.stringify({
    type: "BOOKMARK",
    object: { metadata: { resourceVersion: "100", annotations: { [INITIAL_EVENTS_END]: "true" } } },
  })}\n`,
];
