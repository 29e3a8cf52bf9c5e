/** Carries out `flotilla get`: finds the members, reads what they have, prints it, and goes on watching where that is asked for. */
import { FlotillaError, UsageError } from "../../base/index.ts";
import type { JsonObject } from "../../base/index.ts";
import type { Client } from "../../client/index.ts";
import type { Output } from "../output.ts";
import { ask } from "./ask.ts";
import type { Asking } from "./ask.ts";
import { createDiscovery } from "./discovery.ts";
import type { Gathered } from "./each-place.ts";
import { problemsOf } from "./outcome.ts";
import { findPlaces, hubPlace, readNames } from "./places.ts";
import type { Place } from "./places.ts";
import { readPrintFormat } from "./print-format.ts";
import type { PrintFormat } from "./print-format.ts";
import { MAX_OBJECTS, objectsIn, readObjects } from "./read-objects.ts";
import type { PlaceAnswer, Room, Selection } from "./read-objects.ts";
import { listOf, marked, nameLine, renderColumns, renderSections } from "./render-get.ts";
import type { PlacedObject, TypeSection } from "./render-get.ts";
import { readTable, TABLE } from "./table.ts";
import { readTargets } from "./targets.ts";
import type { Target } from "./targets.ts";
import type { Terminal } from "./terminal.ts";
import { idOf } from "./types.ts";
import { createWatchPrinter } from "./watch-printer.ts";
import { watchPlaces } from "./watch-objects.ts";
import type { Shown } from "./watch-objects.ts";

export interface GetOptions {
  args: readonly string[];
  /** Unset is all namespaces. */
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

export interface GetTools {
  asking: Asking;
  client: Client;
  output: Output;
  terminal: Pick<Terminal, "write">;
}

const USAGE = "'flotilla get pods', 'flotilla get deploy,svc', 'flotilla get pod web-1' or 'flotilla get deployment/web'";
const FAILED = 1;

export async function runGet(options: GetOptions, tools: GetTools): Promise<number> {
  const { output, asking } = tools;
  const format = readPrintFormat(options.format);
  const targets = readTargets(options.args, USAGE);
  checkOptions(options, targets);
  const names = readNames(options.clusters);
  const members = await findPlaces(tools.client, names, asking.signal);
  const places = [...(options.hub ? [hubPlace] : []), ...members];
  if (places.length === 0) throw new FlotillaError("NoMembers", "the fleet has no members yet; 'flotilla join' adds one, and --hub shows what the hub itself has");

  const discovery = createDiscovery((place, path, accept) => ask(asking, place, path, accept));
  const selection: Selection = { targets, ...selectionOf(options), accept: format.as === "table" ? TABLE : "application/json" };
  const room: Room = { left: MAX_OBJECTS };
  output.progress(`asking ${places.length === 1 ? (places[0]?.name ?? "") : `${places.length} clusters`}`);
  const gathered = await readObjects(asking, discovery, places, selection, room);
  output.progress("");
  const problems = problemsOf(gathered, { targets, areNamed: names.length > 0, ...(options.namespace !== undefined && { namespace: options.namespace }), known: discovery.known });
  const told = options.ignoreNotFound ? problems.filter((line) => !line.startsWith("there is no ")) : problems;
  if (room.left <= 0) told.push(`there are more than ${MAX_OBJECTS} objects, and the rest is not shown; choose with -n, -l or --clusters`);

  const count = await print(gathered, format, options, targets, tools);
  for (const line of told) output.warn(line);
  if (count === 0 && told.length === 0 && !options.watch) output.warn(`No resources found${options.namespace === undefined ? "" : ` in ${options.namespace} namespace`}.`);
  if (!options.watch) return told.length > 0 ? FAILED : 0;
  await watch(gathered, places, format, options, targets, selection, tools, discovery);
  return 0;
}

function checkOptions({ namespace, watch, labelSelector, fieldSelector, showEvents }: GetOptions, targets: readonly Target[]): void {
  const isNamed = targets.some(({ names }) => names.length > 0);
  if (isNamed && namespace === undefined) throw new UsageError("an object is found by its name in one namespace: give -n, or leave the name out");
  if (isNamed && (labelSelector !== undefined || fieldSelector !== undefined)) throw new UsageError("give names or a selector, not both");
  if (watch && (targets.length > 1 || (targets[0]?.words.length ?? 0) > 1 || (targets[0]?.names.length ?? 0) > 1)) throw new UsageError("--watch follows one type, or one object of it");
  if (showEvents && !watch) throw new UsageError("--output-watch-events goes with --watch");
}

function selectionOf({ namespace, labelSelector, fieldSelector }: GetOptions): Pick<Selection, "namespace" | "labelSelector" | "fieldSelector"> {
  return { ...(namespace !== undefined && { namespace }), ...(labelSelector !== undefined && { labelSelector }), ...(fieldSelector !== undefined && { fieldSelector }) };
}

/** How many objects there were. */
async function print(gathered: Gathered<PlaceAnswer>, format: PrintFormat, options: GetOptions, targets: readonly Target[], { output, terminal, asking }: GetTools): Promise<number> {
  const sections = sectionsOf(gathered);
  if (format.as === "table") {
    const nowMs = asking.clock.now();
    const tables: TypeSection[] = sections.map(({ type, of }) => ({ type, tables: of.flatMap(({ place, answered }) => answered.pages.map((page) => ({ cluster: place.name, ...readTable(page, nowMs) }))) }));
    const count = tables.reduce((sum, { tables: each }) => sum + each.reduce((rows, table) => rows + table.rows.length, 0), 0);
    // A watch prints its own header, so that later lines stand under it.
    if (count > 0 && !options.watch) output.say(renderSections(tables, { isWide: format.isWide, withNamespace: options.namespace === undefined, withType: sections.length > 1, showLabels: options.showLabels, noHeaders: options.noHeaders }, output.width));
    return count;
  }
  const objects: PlacedObject[] = sections.flatMap(({ type, of }) => of.flatMap(({ place, answered }) => objectsIn(answered).map((object) => ({ cluster: place.name, type, object }))));
  if (!options.watch) await printObjects(objects, format, options, targets, { output, terminal });
  return objects.length;
}

async function printObjects(objects: readonly PlacedObject[], format: Exclude<PrintFormat, { as: "table" }>, options: GetOptions, targets: readonly Target[], { output, terminal }: Pick<GetTools, "output" | "terminal">): Promise<void> {
  const value = (): JsonObject => (isOne(options, targets) && objects[0] ? marked(objects[0].object, objects[0].cluster) : listOf(objects));
  if (format.as === "jsonpath") await terminal.write(format.render(value()));
  else if (format.as === "columns") output.say(renderColumns(objects, format, options.noHeaders, output.width));
  else if (format.as === "name") for (const object of objects) output.say(nameLine(object));
  else if (objects.length > 0 || !isOne(options, targets)) output.result(value(), () => "");
}

/** One name on one member that was named: then it is the object that is printed, as kubectl does, and no list of one. */
function isOne({ clusters, hub }: GetOptions, targets: readonly Target[]): boolean {
  return !hub && readNames(clusters).length === 1 && targets.length === 1 && targets[0]?.words.length === 1 && targets[0].names.length === 1;
}

/** By type, in the order in which types were asked for and found; then by cluster. */
function sectionsOf({ answers }: Gathered<PlaceAnswer>): { type: PlaceAnswer["found"][number]["type"]; of: { place: Place; answered: PlaceAnswer["found"][number] }[] }[] {
  const sections = new Map<string, { type: PlaceAnswer["found"][number]["type"]; of: { place: Place; answered: PlaceAnswer["found"][number] }[] }>();
  for (const { place, answer } of answers) {
    for (const answered of answer.found) {
      const section = sections.get(idOf(answered.type)) ?? { type: answered.type, of: [] };
      sections.set(idOf(answered.type), section);
      section.of.push({ place, answered });
    }
  }
  return [...sections.values()];
}

async function watch(gathered: Gathered<PlaceAnswer>, places: readonly Place[], format: PrintFormat, options: GetOptions, targets: readonly Target[], selection: Selection, { asking, output, terminal }: GetTools, discovery: ReturnType<typeof createDiscovery>): Promise<void> {
  const printer = createWatchPrinter(format, { ...options, withNamespace: options.namespace === undefined }, { output, terminal, clock: asking.clock });
  const name = targets[0]?.names[0];
  const { targets: _targets, ...rest } = selection;
  const shown = new Map<string, Shown>();
  for (const { place, answer } of gathered.answers) {
    const [first] = answer.found;
    if (!first) continue;
    // One object is watched as a list of one, which begins with it.
    const versions = new Map(name === undefined ? first.pages.flatMap(printer.identify).map(({ uid, resourceVersion }) => [uid, resourceVersion]) : []);
    shown.set(place.name, { type: first.type, resourceVersion: name === undefined ? first.resourceVersion : "", versions });
    if (name === undefined) for (const page of first.pages) await printer.show({ place, type: first.type, change: "ADDED", answer: page, isNews: () => true });
  }
  const unserved = new Set(gathered.answers.filter(({ answer }) => answer.found.length === 0).map(({ place }) => place.name));
  await watchPlaces(asking, discovery, places.filter((place) => !unserved.has(place.name)), shown, {
    word: targets[0]?.words[0] ?? "",
    selection: name === undefined ? rest : { ...rest, fieldSelector: `metadata.name=${name}` },
    identify: printer.identify,
    show: printer.show,
    tell: (text) => output.warn(text),
  });
}
