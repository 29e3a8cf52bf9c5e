/** Prints the objects that `flotilla get` read, in the requested format. */
import type { JsonObject } from "@flotilla/base";
import type { Output } from "../output.ts";
import type { Gathered } from "./each-place.ts";
import { hiddenNote } from "./fit-columns.ts";
import type { Place } from "./members-places.ts";
import type { PrintFormat } from "./print-format.ts";
import { objectsIn } from "./read-objects.ts";
import type { PlaceAnswer } from "./read-objects.ts";
import { listOf, marked, nameLine, renderColumns, renderSections } from "./render-get.ts";
import type { PlacedObject } from "./render-get.ts";
import { readTable } from "./merged-table.ts";
import type { Terminal } from "../terminal.ts";
import { idOf } from "./served-types.ts";
import type { ServedType } from "./served-types.ts";

export interface PrintOptions {
  format: PrintFormat;
  withNamespace: boolean;
  showLabels: boolean;
  noHeaders: boolean;
  /**
   * A single object was requested by name on one member: it is printed itself, as kubectl does, not as a list of one.
   */
  isOne: boolean;
  nowMs: number;
}

/** The objects of one type on all clusters. */
interface Section {
  type: ServedType;
  of: { place: Place; answered: PlaceAnswer["found"][number] }[];
}

/** The number of objects. */
export async function printGathered(
  gathered: Gathered<PlaceAnswer>,
  options: PrintOptions,
  { output, terminal }: { output: Output; terminal: Pick<Terminal, "write"> },
): Promise<number> {
  const { format, nowMs } = options;
  const sections = sectionsOf(gathered);
  if (format.as === "table") {
    const tables = sections.map(({ type, of }) => ({
      type,
      tables: of.flatMap(({ place, answered }) =>
        answered.pages.map((page) => ({ cluster: place.name, ...readTable(page, nowMs) })),
      ),
    }));
    const count = tables.flatMap((section) => section.tables).reduce((sum, { rows }) => sum + rows.length, 0);
    const { text, hidden } = renderSections(
      tables,
      { ...options, isWide: format.isWide, withType: sections.length > 1 },
      output.width,
    );
    if (count > 0) output.say(text);
    if (hidden > 0) output.say(output.paint.dim(hiddenNote(hidden)));
    return count;
  }
  const objects: PlacedObject[] = sections.flatMap(({ type, of }) =>
    of.flatMap(({ place, answered }) => objectsIn(answered).map((object) => ({ cluster: place.name, type, object }))),
  );
  const value = (): JsonObject =>
    options.isOne && objects[0] ? marked(objects[0].object, objects[0].cluster) : listOf(objects);
  if (format.as === "columns") output.say(renderColumns(objects, format, options.noHeaders, output.width));
  else if (format.as === "name") for (const object of objects) output.say(nameLine(object));
  // A missing object is not an empty list.
  else if (options.isOne && objects.length === 0) return 0;
  else if (format.as === "template") await terminal.write(format.render(value()));
  else output.result(value(), () => "");
  return objects.length;
}

/** By type, in the requested order; then by cluster. */
function sectionsOf({ answers }: Gathered<PlaceAnswer>): Section[] {
  const sections = new Map<string, Section>();
  for (const { place, answer } of answers) {
    for (const answered of answer.found) {
      const section = sections.get(idOf(answered.type)) ?? { type: answered.type, of: [] };
      sections.set(idOf(answered.type), section);
      section.of.push({ place, answered });
    }
  }
  return [...sections.values()];
}
