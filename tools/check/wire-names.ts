/**
 * Names on the wire, `<domain>/<name>` of a label, an annotation, a finalizer, a taint or a type, are declared once: a
 * second spelling is not found by a search, and a typing error in it is a label that no one reads. The API server declares
 * none of a product.
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
  return [...productsInServer(sources), ...repeated(places)];
}

/** The API server is given the names of products, ours too; its own kind LogicalCluster is the exception (docs/adr/0028). */
const SERVER = /^packages\/apiserver\/src\/(?!clusters\/logical-cluster-kind\.ts$)/;
const PRODUCT = /["`][^"`\n]*\b((?:flotilla\.dev|karmada\.io|kruise\.io|open-cluster-management\.io)\b)/g;

function productsInServer(sources: readonly SourceFile[]): string[] {
  return sources
    .filter(({ path }) => SERVER.test(path) && CHECKED.test(path) && !EXEMPT.test(path))
    .flatMap(({ path, text }) =>
      Array.from(
        text.replaceAll(COMMENTS, "").matchAll(PRODUCT),
        ([, domain]) => `${path}: the API server knows no product; pass in the name of ${domain}`,
      ),
    );
}

function repeated(places: ReadonlyMap<string, readonly string[]>): string[] {
  return [...places]
    .filter(([, paths]) => paths.length > 1)
    .map(
      ([name, paths]) =>
        `"${name}" is spelled ${paths.length} times; declare it once: ${[...new Set(paths)].join(", ")}`,
    );
}
