/** Implements `flotilla get`: finds the members, reads their objects, prints them, and watches if requested. */
import { FlotillaError, UsageError } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { Output } from "../output.ts";
import { ask } from "./ask.ts";
import type { Asking } from "./ask.ts";
import { createDiscovery } from "./discovery.ts";
import type { Discovery } from "./discovery.ts";
import type { Gathered } from "./each-place.ts";
import { checkSelectors } from "./flags.ts";
import { problemsOf } from "./outcome.ts";
import { findPlaces, hubPlace, readNames } from "./members-places.ts";
import type { Place } from "./members-places.ts";
import { printGathered } from "./print-get.ts";
import { readPrintFormat } from "./print-format.ts";
import { MAX_OBJECTS, readObjects } from "./read-objects.ts";
import type { PlaceAnswer, Room, Selection } from "./read-objects.ts";
import { TABLE } from "./merged-table.ts";
import { readTargets } from "./targets.ts";
import type { Target } from "./targets.ts";
import type { Terminal } from "../terminal.ts";
import { watchPlaces } from "./watch-objects.ts";
import type { Shown, Watching } from "./watch-objects.ts";
import { createWatchPrinter } from "./watch-printer.ts";

export interface GetOptions {
  args: readonly string[];
  /** Unset means all namespaces. */
  namespace?: string;
  clusters: readonly string[];
  hub: boolean;
  labelSelector?: string;
  fieldSelector?: string;
  watch: boolean;
  showEvents: boolean;
  showLabels: boolean;
  noHeaders: boolean;
  ignoreNotFound: boolean;
  format: string;
}

interface GetTools {
  asking: Asking;
  client: Client;
  output: Output;
  terminal: Pick<Terminal, "write">;
}

const USAGE =
  "'flotilla get pods', 'flotilla get deploy,svc', 'flotilla get pod web-1' or 'flotilla get deployment/web'";
const FAILED = 1;

export async function runGet(options: GetOptions, tools: GetTools): Promise<number> {
  const { output, asking } = tools;
  const format = readPrintFormat(options.format);
  const targets = readTargets(options.args, USAGE);
  checkOptions(options, targets);
  checkSelectors(options);
  const names = readNames(options.clusters);
  const places = [...(options.hub ? [hubPlace] : []), ...(await findPlaces(tools.client, names, asking.signal))];
  if (places.length === 0)
    throw new FlotillaError(
      "NoMembers",
      "the fleet has no members; add one with 'flotilla join', or use --hub to show the hub's own objects",
    );

  const { namespace, labelSelector, fieldSelector } = options;
  const selection: Selection = {
    targets,
    namespace,
    labelSelector,
    fieldSelector,
    accept: format.as === "table" ? TABLE : "application/json",
  };
  const discovery = createDiscovery((place, path, accept) => ask(asking, place, path, accept));
  const room: Room = { left: MAX_OBJECTS };
  output.progress(`querying ${places.length === 1 ? (places[0]?.name ?? "") : `${places.length} clusters`}`);
  const gathered = await readObjects(asking, discovery, places, selection, room);
  output.progress("");
  const { lines, notes, missing } = problemsOf(gathered, {
    targets,
    areNamed: names.length > 0,
    namespace,
    known: discovery.known,
  });
  const problems = [...lines, ...(options.ignoreNotFound ? [] : missing)];
  if (room.left <= 0)
    problems.push(
      `more than ${MAX_OBJECTS} objects were found, and the rest is not shown; narrow them down with -n, -l or --clusters`,
    );

  const withNamespace = namespace === undefined;
  if (options.watch) {
    for (const line of [...notes, ...problems]) output.warn(output.called(line));
    const printer = createWatchPrinter(
      format,
      { ...options, withNamespace },
      { output, terminal: tools.terminal, clock: asking.clock },
    );
    await watch(
      { gathered, places, selection, discovery },
      { ...printer, notify: (text) => output.warn(text) },
      asking,
    );
    return 0;
  }
  const count = await printGathered(
    gathered,
    { ...options, format, withNamespace, isOne: isOne(options, targets), nowMs: asking.clock.now() },
    tools,
  );
  for (const line of [...notes, ...problems]) output.warn(output.called(line));
  if (count === 0 && problems.length === 0 && format.as === "table")
    output.warn(`No resources found${namespace === undefined ? "" : ` in ${namespace} namespace`}.`);
  return problems.length > 0 ? FAILED : 0;
}

function checkOptions(options: GetOptions, targets: readonly Target[]): void {
  const { namespace, watch: isWatch, labelSelector, fieldSelector, showEvents } = options;
  const isNamed = targets.some(({ names }) => names.length > 0);
  if (isNamed && namespace === undefined)
    throw new UsageError("a resource cannot be retrieved by name across all namespaces: specify -n, or omit the name");
  if (isNamed && (labelSelector !== undefined || fieldSelector !== undefined))
    throw new UsageError("specify either names or a selector");
  if (isWatch && (targets.length > 1 || (targets[0]?.words.length ?? 0) > 1 || (targets[0]?.names.length ?? 0) > 1))
    throw new UsageError("--watch supports one type, or one object of it");
  if (showEvents && !isWatch) throw new UsageError("--output-watch-events requires --watch");
}

function isOne({ clusters, hub }: GetOptions, targets: readonly Target[]): boolean {
  return (
    !hub &&
    readNames(clusters).length === 1 &&
    targets.length === 1 &&
    targets[0]?.words.length === 1 &&
    targets[0].names.length === 1
  );
}

interface Begun {
  gathered: Gathered<PlaceAnswer>;
  places: readonly Place[];
  selection: Selection;
  discovery: Discovery;
}

/** Shows the objects that were read, and continues from there. */
async function watch(
  { gathered, places, selection: { targets, ...selection }, discovery }: Begun,
  printer: Pick<Watching, "identify" | "show" | "notify">,
  asking: Asking,
): Promise<void> {
  const [word = "", name] = [targets[0]?.words[0], targets[0]?.names[0]];
  const shown = new Map<string, Shown>();
  for (const { place, answer } of gathered.answers) {
    const [first] = answer.found;
    if (!first) continue;
    // A single object is watched as a list of one, which is read when the watch starts.
    if (name !== undefined) {
      shown.set(place.name, { type: first.type, resourceVersion: "", versions: new Map() });
      continue;
    }
    const versions = new Map(
      first.pages.flatMap(printer.identify).map(({ uid, resourceVersion }) => [uid, resourceVersion]),
    );
    shown.set(place.name, { type: first.type, resourceVersion: first.resourceVersion, versions });
    for (const page of first.pages)
      await printer.show({ place, type: first.type, change: "ADDED", answer: page, isChanged: () => true });
  }
  const unserved = new Set(
    gathered.answers.filter(({ answer }) => answer.found.length === 0).map(({ place }) => place.name),
  );
  const followed = places.filter((place) => !unserved.has(place.name));
  await watchPlaces(asking, discovery, followed, shown, {
    word,
    selection: name === undefined ? selection : { ...selection, fieldSelector: `metadata.name=${name}` },
    ...printer,
  });
}
