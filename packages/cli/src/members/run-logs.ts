/**
 * Implements `flotilla logs`: finds the containers on all members and prints their logs, one after the other or as
 * lines arrive.
 */
import { missingText, named, nowhere } from "./outcome.ts";
import { FlotillaError, UsageError, defined } from "@flotilla/base";
import type { Timer } from "@flotilla/base";
import { queryText } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { formatYaml } from "@flotilla/apimachinery";
import type { Output } from "../output.ts";
import { ask, open, tooLate } from "./ask.ts";
import type { Asking } from "./ask.ts";
import { createDiscovery } from "./discovery.ts";
import { failureLine, reasonOf } from "./each-place.ts";
import { checkSelectors } from "./flags.ts";
import { createLineSplitter } from "./line-splitter.ts";
import { findPlaces, readNames } from "./members-places.ts";
import { findPods } from "./pods.ts";
import type { FoundPod } from "./pods.ts";
import { collectionPath } from "./read-objects.ts";
import type { Terminal } from "../terminal.ts";

export interface LogsOptions {
  /** `web-1` or `deployment/web`; unset with a selector. */
  named?: string;
  labelSelector?: string;
  namespace: string;
  clusters: readonly string[];
  container?: string;
  allContainers: boolean;
  follow: boolean;
  previous: boolean;
  timestamps: boolean;
  /** The last lines of each container; if unset, all. */
  tail?: number;
  sinceSeconds?: number;
  prefix: boolean;
  maxRequests: number;
}

interface LogsTools {
  asking: Asking;
  client: Client;
  output: Output;
  terminal: Pick<Terminal, "write">;
}

/** A container whose log is read. */
interface LogSource {
  pod: FoundPod;
  container: string;
}

/** How many logs are opened before they are printed. */
const AHEAD = 4;
/** A longer line is printed in parts. */
const MAX_LINE_BYTES = 1024 * 1024;
const FAILED = 1;

export async function runLogs(options: LogsOptions, { asking, client, output, terminal }: LogsTools): Promise<number> {
  checkSelectors(options);
  const places = await findPlaces(client, readNames(options.clusters), asking.signal);
  if (places.length === 0)
    throw new FlotillaError("NoMembers", "the fleet has no members; add one with 'flotilla join'");
  const discovery = createDiscovery((place, path, accept) => ask(asking, place, path, accept));
  output.progress(`looking for pods on ${places.length === 1 ? (places[0]?.name ?? "") : `${places.length} members`}`);
  const { pods, failures, hasOwner } = await findPods(asking, discovery, places, options);
  output.progress("");
  for (const failure of failures) output.warn(output.called(failureLine(failure)));
  if (pods.length === 0)
    throw nowhere(whatOf(options, hasOwner), ` in namespace ${options.namespace}`, places, failures);
  const sources = sourcesOf(pods, options);
  for (const text of defaulted(pods, options)) output.warn(text);
  if (options.follow && sources.length > options.maxRequests)
    throw new UsageError(
      `following ${sources.length} containers exceeds the limit of ${options.maxRequests}: raise it with ` +
        "--max-log-requests, or narrow them down with --clusters, -l or -c",
    );

  const withPrefix = options.prefix || sources.length > 1;
  const isData = output.format !== "table";
  const write = (source: LogSource, lines: readonly Buffer[]): Promise<void> =>
    terminal.write(
      isData
        ? lines.map((line) => recordOf(source, line, output.format)).join("")
        : Buffer.concat(
            lines.flatMap((line) => [...(withPrefix ? [Buffer.from(prefixOf(source, options))] : []), line, NEWLINE]),
          ),
    );
  const failed = options.follow
    ? await followAll(sources, options, asking, write, output)
    : await printEach(sources, options, asking, write, output);
  return failed + failures.length > 0 ? FAILED : 0;
}

const NEWLINE = Buffer.from("\n");

/** One log line for programs: a JSON object on its own line, or a list item. */
function recordOf(
  { pod: { place, namespace, name }, container }: LogSource,
  line: Buffer,
  format: Output["format"],
): string {
  const record = { cluster: place.name, namespace, pod: name, container, line: line.toString("utf8") };
  return format === "json" ? `${JSON.stringify(record)}\n` : formatYaml([record]);
}

function whatOf({ named: what, labelSelector }: LogsOptions, hasOwner: boolean): string {
  if (what === undefined) return `pod with the labels ${labelSelector ?? ""}`;
  return missingText(what, hasOwner);
}

/** Throws `UsageError` for a container that no pod has. */
export function sourcesOf(
  pods: readonly FoundPod[],
  { container, allContainers }: Pick<LogsOptions, "container" | "allContainers">,
): LogSource[] {
  if (allContainers)
    return pods.flatMap((pod) => [...pod.initContainers, ...pod.containers].map((name) => ({ pod, container: name })));
  if (container === undefined) return pods.map((pod) => ({ pod, container: pod.defaultContainer }));
  const having = pods.filter((pod) => [...pod.initContainers, ...pod.containers].includes(container));
  if (having.length === 0)
    throw new UsageError(
      `no pod has a container '${container}'; available: ${named([...new Set(pods.flatMap((pod) => [...pod.initContainers, ...pod.containers]))])}`,
    );
  return having.map((pod) => ({ pod, container }));
}

/** Reports once that a default container was chosen. */
function defaulted(pods: readonly FoundPod[], { container, allContainers }: LogsOptions): string[] {
  const [first] = pods.filter(({ containers }) => containers.length > 1);
  if (!first || allContainers || container !== undefined) return [];
  return [
    `showing container ${first.defaultContainer} of ${first.containers.join(", ")}; use -c to select another, or --all-containers`,
  ];
}

export function prefixOf(
  { pod: { place, name }, container }: LogSource,
  { allContainers }: Pick<LogsOptions, "allContainers">,
): string {
  return `[${place.name}/${name}${allContainers ? `/${container}` : ""}] `;
}

function pathOf({ pod: { namespace, name }, container }: LogSource, options: LogsOptions): string {
  const { follow, previous, timestamps, tail, sinceSeconds } = options;
  const pods = collectionPath({ group: "", version: "v1", plural: "pods", scope: "Namespaced" }, namespace, name);
  const query: Record<string, string> = {
    container,
    ...defined({
      follow: follow ? "true" : undefined,
      previous: previous ? "true" : undefined,
      timestamps: timestamps ? "true" : undefined,
      tailLines: tail === undefined ? undefined : String(tail),
      sinceSeconds: sinceSeconds === undefined ? undefined : String(sinceSeconds),
    }),
  };
  return `${pods}/log${queryText(query)}`;
}

type Write = (source: LogSource, lines: readonly Buffer[]) => Promise<void>;

/** All at the same time, lines as they arrive. Returns how many failed. */
async function followAll(
  sources: readonly LogSource[],
  options: LogsOptions,
  asking: Asking,
  write: Write,
  output: Output,
): Promise<number> {
  const outcomes = await Promise.all(
    sources.map(async (source) => {
      try {
        await printLog(await open(asking, source.pod.place, pathOf(source, options)), source, write);
        return 0;
      } catch (error) {
        return asking.signal.aborted ? 0 : reportFailure(source, error, options, output);
      }
    }),
  );
  return outcomes.filter((failed) => failed > 0).length;
}

/** One after the other; the next ones are opened in advance and are buffered by the network. */
async function printEach(
  sources: readonly LogSource[],
  options: LogsOptions,
  asking: Asking,
  write: Write,
  output: Output,
): Promise<number> {
  const begin = async (
    source: LogSource,
  ): Promise<{ body: AsyncIterable<Uint8Array>; stop: AbortController } | { error: unknown }> => {
    const stop = new AbortController();
    try {
      return {
        body: await open(
          { ...asking, signal: AbortSignal.any([asking.signal, stop.signal]) },
          source.pod.place,
          pathOf(source, options),
        ),
        stop,
      };
    } catch (error) {
      return { error };
    }
  };
  const begun: ReturnType<typeof begin>[] = [];
  let failed = 0;
  for (const [index, source] of sources.entries()) {
    for (let next = begun.length; next < Math.min(index + AHEAD, sources.length); next++)
      begun.push(begin(sources[next] as LogSource));
    try {
      const log = await begun[index];
      if (!log || "error" in log) throw log?.error;
      await printLog(untilSilent(log, asking), source, write);
    } catch (error) {
      asking.signal.throwIfAborted();
      failed += reportFailure(source, error, options, output);
    }
  }
  return failed;
}

/** A finite log arrives without pauses: a member that sends nothing for long is lost. */
async function* untilSilent(
  { body, stop }: { body: AsyncIterable<Uint8Array>; stop: AbortController },
  { clock, responseTimeoutMs }: Asking,
): AsyncGenerator<Uint8Array> {
  const wait = (): Timer => clock.after(responseTimeoutMs, () => stop.abort(tooLate(responseTimeoutMs)));
  let timer = wait();
  try {
    for await (const chunk of body) {
      timer.cancel();
      yield chunk;
      timer = wait();
    }
  } finally {
    timer.cancel();
  }
}

async function printLog(body: AsyncIterable<Uint8Array>, source: LogSource, write: Write): Promise<void> {
  const splitter = createLineSplitter(MAX_LINE_BYTES);
  for await (const chunk of body) {
    const lines = splitter.push(chunk);
    if (lines.length > 0) await write(source, lines);
  }
  const rest = splitter.rest();
  if (rest.length > 0) await write(source, rest);
}

function reportFailure(source: LogSource, error: unknown, options: LogsOptions, output: Output): 1 {
  output.warn(`${prefixOf(source, options).trimEnd().slice(1, -1)}: ${reasonOf(source.pod.place, error)}`);
  return 1;
}
