/**
 * A watch as lines of JSON, or as frames of protobuf with their length. An event is rendered once for all its watchers. A watcher that cannot keep up is
 * disconnected and has to list again, so that it never blocks the others.
 */
import { defined } from "@flotilla/base";
import { INITIAL_EVENTS_END } from "@flotilla/client";
import type { Clock, JsonObject, Random, Timer } from "@flotilla/base";
import { ApiError, expired, internalError, protobufWatchFrame } from "@flotilla/apimachinery";
import type { ProtobufCodec } from "@flotilla/apimachinery";
import type { CachedEntry } from "../store/cache.ts";
import type { BackPressure, WatchShare } from "../watch/back-pressure.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import { rendererOf, statusDocument } from "../codec/protobuf.ts";
import type { MessageRenderer } from "../codec/protobuf.ts";
import type { Representation } from "../request/negotiate.ts";
import type { ListQuery } from "../request/options.ts";
import { objectAt, piecesIn } from "../codec/render.ts";
import type { ResourceRoute } from "../request/router.ts";
import type { ByteSink, ByteStream } from "../request/request.ts";
import type { ServedVersion } from "../resources/resources.ts";
import { encode } from "../request/respond.ts";
import { bookmarkTable, metadataOnly, partialMetadata, tableOf } from "../read/object-table.ts";
import type { TableOptions } from "../read/object-table.ts";
import type { WatchMeter } from "./server-metrics.ts";
import { startWatch } from "../watch/watch.ts";
import type { Notice, WatchDependencies } from "../watch/watch.ts";

/** The backlog at which a slow client is disconnected. */
const MAX_BACKLOG_BYTES = 16 * 1024 * 1024;
/** A client that reads nothing for this long is also disconnected: its backlog wastes memory. */
const MAX_STALL_MS = 30_000;
const BOOKMARK_INTERVAL_MS = 60_000;
/** A last bookmark is sent this long before the end, so that the next watch can resume close to it. */
const LAST_BOOKMARK_MS = 2000;
const MIN_TIMEOUT_MS = 30 * 60_000;
/**
 * Initial objects are rendered at the client's pace, about this much at a time: a slow connection can transfer it well
 * within the stall limit.
 */
const INITIAL_CHUNK_BYTES = 256 * 1024;

export type StreamDependencies = WatchDependencies & { random: Random; pressure: BackPressure };

export interface WatchRequest {
  /** One cluster, or all of them; then each event carries the name of its cluster. */
  cluster: LogicalCluster | "*";
  path: Pick<ResourceRoute, "group" | "version" | "resource" | "namespace">;
  /** The resource in that cluster; unset for all of them, which may serve it differently or not yet. */
  served?: ServedVersion;
  query: ListQuery;
  representation: Representation;
  /** Needed for a watch in protobuf. */
  protobuf?: ProtobufCodec;
  includeObject: TableOptions["includeObject"];
  signal: AbortSignal;
  /** Whose writers wait when the watch lags. */
  client?: string;
  /** Counts the watch and its events, from when it is opened. */
  meter?(): WatchMeter;
}

export function createWatchStream(deps: StreamDependencies, request: WatchRequest): ByteStream {
  return {
    open(sink) {
      const stream = new WatchStream(deps, request, sink);
      stream.start();
      return () => stream.close();
    },
  };
}

class WatchStream {
  readonly #deps: StreamDependencies;
  readonly #request: WatchRequest;
  readonly #sink: ByteSink;
  readonly #timers = new Set<Timer>();
  #stop: () => void = () => {};
  /** Initial objects that are not written yet. */
  #initial: readonly Notice[] = [];
  #position = 0;
  /** The revision of the bookmark that marks the end of the initial objects. */
  #initialEnd: number | undefined;
  #backlog: Uint8Array[] = [];
  #backlogBytes = 0;
  readonly #pressure: WatchShare;
  #flowing = true;
  /** When the client last had no room. */
  #stalledMs = 0;
  #stallTimer: Timer | undefined;
  #closed = false;
  #columnsSent = false;
  #meter: WatchMeter | undefined;
  /**
   * A streaming list waits until the cache is at least as new as requested; a resumed watch waits until its past is
   * loaded.
   */
  #waits = true;
  /** Events wait for a conversion webhook. */
  #converts = false;
  #lastRevision = 0;
  /** Watchers with the same form of the same version share their events; unset for tables, whose ages differ. */
  readonly #form: string | undefined;
  readonly #renderer: MessageRenderer | undefined;

  constructor(deps: StreamDependencies, request: WatchRequest, sink: ByteSink) {
    this.#deps = deps;
    this.#request = request;
    this.#sink = sink;
    const { format, as, version } = request.representation;
    if (as !== "table" && request.cluster !== "*") this.#form = `${format} ${as} ${version}`;
    if (format === "protobuf" && request.served)
      this.#renderer = rendererOf(request.protobuf, request.served, as === "object" ? "object" : version, metadataOnly);
    // No cluster's writers wait for a watch of all clusters: one that lags is ended, and its client lists again.
    this.#pressure = deps.pressure.join(request.cluster === "*" ? "*" : request.cluster.name, request.client);
  }

  start(): void {
    const { cluster, path, query, signal } = this.#request;
    this.#lastRevision = query.resourceVersion ?? 0;
    this.#meter = this.#request.meter?.();
    this.#schedule();
    this.#stop = startWatch(
      this.#deps,
      {
        cluster,
        group: path.group,
        version: path.version,
        resource: path.resource,
        namespace: path.namespace,
        labelSelector: query.labelSelector,
        fieldSelector: query.fieldSelector,
        resourceVersion: query.resourceVersion,
        sendInitialEvents: query.sendInitialEvents,
      },
      {
        started: () => {
          this.#waits = false;
        },
        converting: (isConverting) => {
          this.#converts = isConverting;
        },
        initial: (notices, revision) => {
          this.#initial = notices;
          this.#meter?.sent(notices.length);
          this.#lastRevision = revision;
          if (query.allowBookmarks) this.#initialEnd = revision;
          this.#pump();
        },
        notify: (notices) => {
          this.#lastRevision = notices.at(-1)?.revision ?? this.#lastRevision;
          this.#meter?.sent(notices.length);
          this.#offer(this.#lines(notices));
        },
        end: (error) => this.#end(error),
      },
      signal,
    );
    // It may have ended while it was starting.
    if (this.#closed) this.#stop();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#meter?.close();
    this.#stop();
    for (const timer of this.#timers) timer.cancel();
    this.#stallTimer?.cancel();
    this.#backlog = [];
    this.#initial = [];
    this.#pressure.end();
  }

  #schedule(): void {
    const { clock, random } = this.#deps;
    const { timeoutSeconds, allowBookmarks } = this.#request.query;
    const timeoutMs =
      timeoutSeconds !== undefined && timeoutSeconds > 0 ? timeoutSeconds * 1000 : MIN_TIMEOUT_MS * (1 + random.next());
    this.#timers.add(clock.after(timeoutMs, () => this.#end()));
    if (!allowBookmarks) return;
    if (timeoutMs >= LAST_BOOKMARK_MS)
      this.#timers.add(clock.after(timeoutMs - LAST_BOOKMARK_MS, () => this.#bookmark()));
    this.#repeat(clock);
  }

  #repeat(clock: Clock): void {
    const timer = clock.after(BOOKMARK_INTERVAL_MS, () => {
      this.#timers.delete(timer);
      this.#bookmark();
      if (!this.#closed) this.#repeat(clock);
    });
    this.#timers.add(timer);
  }

  #bookmark(): void {
    const { cache } = this.#deps;
    // Until every watcher is notified, an older change may still be in flight to this one.
    const revision = cache.isQuiet() ? cache.revision : this.#lastRevision;
    if (this.#converts) return;
    if (revision > 0 && !this.#waits && this.#initialEnd === undefined && this.#position >= this.#initial.length)
      this.#offer(this.#bookmarkLine(revision, false));
  }

  #end(error?: Error): void {
    if (this.#closed) return;
    if (error) {
      const { status } = error instanceof ApiError ? error : internalError(error.message);
      this.#sink.write(
        this.#renderer
          ? protobufWatchFrame("ERROR", statusDocument(status))
          : encode(`${JSON.stringify({ type: "ERROR", object: status })}\n`),
      );
    }
    this.close();
    this.#sink.end();
  }

  /** Writes, or buffers when the client is slow; disconnects the client when the buffer is full. */
  #offer(chunk: Uint8Array): void {
    if (this.#closed) return;
    if (this.#flowing && this.#isPastInitial()) return this.#write(chunk);
    this.#backlog.push(chunk);
    this.#backlogBytes += chunk.byteLength;
    if (this.#backlogBytes > MAX_BACKLOG_BYTES) this.#end(expired("the watch lagged too far behind; list again"));
    else this.#pressure.report(this.#backlogBytes);
  }

  #isPastInitial(): boolean {
    return this.#position >= this.#initial.length && this.#initialEnd === undefined;
  }

  #write(chunk: Uint8Array): void {
    if (this.#sink.write(chunk)) return;
    this.#flowing = false;
    this.#stalledMs = this.#deps.clock.now();
    if (!this.#stallTimer) this.#checkStall(MAX_STALL_MS);
    this.#sink.onDrain(() => {
      this.#flowing = true;
      this.#pump();
    });
  }

  /** A busy watch stalls and resumes all the time, so a single timer checks instead of one per stall. */
  #checkStall(inMs: number): void {
    if (this.#closed) return;
    this.#stallTimer = this.#deps.clock.after(inMs, () => {
      this.#stallTimer = undefined;
      if (this.#flowing) return;
      const leftMs = this.#stalledMs + MAX_STALL_MS - this.#deps.clock.now();
      if (leftMs > 0) this.#checkStall(leftMs);
      else this.#end(expired("the client did not read the watch; list again"));
    });
  }

  /** Resumes after a slow client: initial objects first, then buffered events. */
  #pump(): void {
    while (this.#flowing && !this.#closed) {
      if (this.#position < this.#initial.length) {
        this.#write(this.#nextInitial());
      } else if (this.#initialEnd !== undefined) {
        const revision = this.#initialEnd;
        this.#initialEnd = undefined;
        this.#initial = [];
        this.#position = 0;
        this.#write(this.#bookmarkLine(revision, true));
      } else {
        const chunk = this.#backlog.shift();
        if (!chunk) return;
        this.#backlogBytes -= chunk.byteLength;
        this.#pressure.report(this.#backlogBytes);
        this.#write(chunk);
      }
    }
  }

  #nextInitial(): Uint8Array {
    const lines: Uint8Array[] = [];
    let bytes = 0;
    for (
      let notice = this.#initial[this.#position];
      notice && bytes < INITIAL_CHUNK_BYTES;
      notice = this.#initial[++this.#position]
    ) {
      const line = this.#line(notice);
      lines.push(line);
      bytes += line.byteLength;
    }
    return joined(lines);
  }

  #lines(notices: readonly Notice[]): Uint8Array {
    const render = (): Uint8Array => joined(notices.map((notice) => this.#line(notice)));
    return this.#form === undefined ? render() : sharedBatch(notices, this.#form, render);
  }

  #line(notice: Notice): Uint8Array {
    if (this.#request.cluster === "*") return withCluster(sharedLine(notice, PLAIN, entryLine), notice.cluster.name);
    return this.#form === undefined
      ? this.#render(notice)
      : sharedLine(notice, this.#form, this.#form === PLAIN ? entryLine : this.#render);
  }

  readonly #render = (notice: Notice): Uint8Array => {
    const { representation } = this.#request;
    const { type, entry, served, revision } = notice;
    if (this.#renderer) return protobufWatchFrame(type, this.#renderer.documentAt(entry, revision));
    const object = objectAt(entry, served, revision);
    const shown =
      representation.as === "table"
        ? this.#table(served, object, revision)
        : representation.as === "metadata"
          ? partialMetadata(object, representation.version)
          : object;
    return encode(`${JSON.stringify({ type, object: shown })}\n`);
  };

  #table(served: ServedVersion, object: JsonObject, revision: number): JsonObject {
    return tableOf(served, [object], { resourceVersion: String(revision) }, this.#tableOptions(), this.#isFirst());
  }

  #tableOptions(): TableOptions {
    const { includeObject, representation } = this.#request;
    return { includeObject, nowMs: this.#deps.clock.now(), version: representation.version };
  }

  /** Only the first event contains the column definitions. */
  #isFirst(): boolean {
    const first = !this.#columnsSent;
    this.#columnsSent = true;
    return first;
  }

  #bookmarkLine(revision: number, initialEnd: boolean): Uint8Array {
    const { path, served, representation } = this.#request;
    const metadata: JsonObject = {
      resourceVersion: String(revision),
      ...defined({ annotations: initialEnd ? { [INITIAL_EVENTS_END]: "true" } : undefined }),
    };
    const bare: JsonObject = {
      kind: served?.resource.kind.kind ?? "",
      apiVersion: path.group === "" ? path.version : `${path.group}/${path.version}`,
      metadata,
    };
    if (this.#renderer) return protobufWatchFrame("BOOKMARK", this.#renderer.document(bare));
    const object =
      served && representation.as === "table"
        ? bookmarkTable(served, bare, this.#tableOptions(), this.#isFirst())
        : representation.as === "metadata"
          ? partialMetadata(bare, representation.version)
          : bare;
    return encode(`${JSON.stringify({ type: "BOOKMARK", object })}\n`);
  }
}

/** `{"type":…}` becomes `{"cluster":"paris","type":…}`. */
function withCluster(line: Uint8Array, cluster: string): Uint8Array {
  return Buffer.concat([encode(`{"cluster":${JSON.stringify(cluster)},`), line.subarray(1)]);
}

/** Whole objects in JSON, which are copied from their bytes. */
const PLAIN = "json object v1";

interface SharedLine {
  served: ServedVersion;
  form: string;
  type: string;
  revision: number;
  line: Uint8Array;
}

/**
 * Lines of the events that are being delivered. Watchers are notified one after another, so caching for this turn is
 * enough.
 */
const lines = new Map<CachedEntry, SharedLine[]>();

function sharedLine(notice: Notice, form: string, render: (notice: Notice) => Uint8Array): Uint8Array {
  const { type, entry, served, revision } = notice;
  if (lines.size === 0) queueMicrotask(() => lines.clear());
  let known = lines.get(entry);
  const found = known?.find(
    (candidate) =>
      candidate.served === served &&
      candidate.form === form &&
      candidate.type === type &&
      candidate.revision === revision,
  );
  if (found) return found.line;
  const line = render(notice);
  if (!known) lines.set(entry, (known = []));
  known.push({ served, form, type, revision, line });
  return line;
}

/**
 * The lines of a batch, by the array of its notices: a thousand watchers with the same selection share the same bytes.
 */
const batches = new WeakMap<readonly Notice[], { form: string; chunk: Uint8Array }[]>();

function sharedBatch(notices: readonly Notice[], form: string, render: () => Uint8Array): Uint8Array {
  let known = batches.get(notices);
  if (!known) batches.set(notices, (known = []));
  for (const candidate of known) if (candidate.form === form) return candidate.chunk;
  const chunk = render();
  known.push({ form, chunk });
  return chunk;
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  return chunks.length === 1 && first ? first : Buffer.concat(chunks);
}

/** One line of a watch: `{"type":…,"object":…}` and a line feed. */
function eventLine(type: string, pieces: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([encode(`{"type":"${type}","object":`), ...pieces, EVENT_END]);
}
const EVENT_END = encode("}\n");

/** The bytes of one entry as a watch event. */
function entryLine({ type, entry, served, revision }: Notice): Uint8Array {
  return eventLine(type, piecesIn(entry, served, revision));
}
