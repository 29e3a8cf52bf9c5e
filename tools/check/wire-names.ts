/**
 * Names on the wire, `<domain>/<name>` of a label, an annotation, a finalizer, a taint or a type, are declared once: a
 * second spelling is not found by a search, and a typing error in it is a label that no one reads.
 */
import type { SourceFile } from "./sources.ts";

const CHECKED = /^packages\/(?!testing\/|web\/)[^/]+\/src\/.*\.ts$/;
/** Tests spell what they expect. Generated tables and descriptions of fields repeat upstream's text. */
const EXEMPT = /\.test\.ts$|\/test-[a-z-]+\.ts$|\/testdata\/|\/facts\/|-descriptions\.ts$/;
const COMMENTS = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/g;
const NAME = /"((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}\/[a-z][A-Za-z0-9._-]*)"/g;
const VERSION = /\/v\d+(?:(?:alpha|beta)\d+)?$/;

/** Resources of a group, and an example in an answer of upstream. */
const NO_NAMES: ReadonlySet<string> = new Set([
  "acme.io/foo",
  "coordination.k8s.io/leases",
  "resource.k8s.io/resourceclaims",
]);

export function checkWireNames(sources: readonly SourceFile[]): string[] {
  const places = new Map<string, string[]>();
  for (const { path, text } of sources) {
    if (!CHECKED.test(path) || EXEMPT.test(path)) continue;
    for (const [, name = ""] of text.replaceAll(COMMENTS, "").matchAll(NAME)) {
      if (VERSION.test(name) || NO_NAMES.has(name)) continue;
      places.set(name, [...(places.get(name) ?? []), path]);
    }
  }
  return [...places]
    .filter(([, paths]) => paths.length > 1)
    .map(
      ([name, paths]) =>
        `"${name}" is spelled ${paths.length} times; declare it once: ${[...new Set(paths)].join(", ")}`,
    );
}
