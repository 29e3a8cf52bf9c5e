/** Resolves type names as kubectl does: `deploy`, `Deployment`, `clonesets.apps.kruise.io` and `all`. Pure. */
import { dynamicKind, parseApiVersion } from "@flotilla/apimachinery";
import type { AnyKind } from "@flotilla/client";

/** A type in one version of its group, from a server's discovery. */
export interface ServedType {
  group: string;
  version: string;
  kind: string;
  plural: string;
  scope: "Namespaced" | "Cluster";
  /** Empty on servers that do not report it. */
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  verbs: readonly string[];
}

/**
 * The types that a word matches, each in the first matching version; a category such as `all` matches several. `types`
 * are in the server's order of preference. Empty when nothing matches.
 */
export function findTypes(types: readonly ServedType[], word: string): ServedType[] {
  const wanted = word.toLowerCase();
  const category = types.filter(({ categories, verbs }) => categories.includes(wanted) && verbs.includes("list"));
  if (category.length > 0) return [...firstVersions(category).values()];
  const found = findType(types, wanted);
  return found ? [found] : [];
}

/** The same for a word that must match one type. */
export function findType(types: readonly ServedType[], word: string): ServedType | undefined {
  const wanted = word.toLowerCase();
  const plain =
    types.find((type) => fullNames(type).includes(wanted)) ??
    types.find(({ shortNames }) => shortNames.includes(wanted));
  const dot = wanted.indexOf(".");
  return plain ?? (dot > 0 ? qualified(types, wanted.slice(0, dot), wanted.slice(dot + 1)) : undefined);
}

/**
 * The types that TYPE/NAME may mean: the one that `findType` finds, and the kinds of that name in other groups, which a
 * word without a group does not exclude. Each in its preferred version.
 */
export function findNamesakes(types: readonly ServedType[], word: string): ServedType[] {
  const found = findType(types, word);
  if (!found || word.includes(".")) return found ? [found] : [];
  const others = types.filter(
    (type) => type.kind === found.kind && type.group !== found.group && namesOf(type).includes(word.toLowerCase()),
  );
  return [found, ...firstVersions(others).values()];
}

/** For an object that several groups have: how to name each of them. */
export function ambiguousText(types: readonly ServedType[], name: string): string {
  const spellings = types.map((type) => `${titleOf(type)}/${name}`);
  return `${types.map(({ group }) => group || "the core group").join(" and ")} each have a ${types[0]?.kind ?? ""} ${name}; specify ${spellings.join(" or ")}`;
}

/** `clonesets.apps.kruise.io`, `deployments.v1.apps`, and `clonesets.apps.kruise` where a group prefix is enough. */
function qualified(types: readonly ServedType[], name: string, rest: string): ServedType | undefined {
  const named = types.filter((type) => namesOf(type).includes(name));
  const dot = rest.indexOf(".");
  return (
    named.find(({ group }) => group === rest) ??
    named.find(({ group, version }) => dot > 0 && version === rest.slice(0, dot) && group === rest.slice(dot + 1)) ??
    named.find(({ group }) => group.startsWith(rest))
  );
}

const fullNames = ({ plural, kind, singular }: ServedType): string[] => [
  plural,
  kind.toLowerCase(),
  ...(singular ? [singular] : []),
];
const namesOf = (type: ServedType): string[] => [...fullNames(type), ...type.shortNames];

/** Every name that `findType` knows, without groups: for suggestions. */
export function* knownNames(types: readonly ServedType[]): Generator<string> {
  const seen = new Set<string>();
  for (const type of types) {
    for (const name of [type.plural, ...type.categories, ...namesOf(type)]) {
      if (!seen.has(name)) yield name;
      seen.add(name);
    }
  }
}

function firstVersions(types: readonly ServedType[]): Map<string, ServedType> {
  const first = new Map<string, ServedType>();
  for (const type of types) if (!first.has(idOf(type))) first.set(idOf(type), type);
  return first;
}

/** The same for a type in any version: `deployments.apps`. */
export const idOf = ({ group, plural }: Pick<ServedType, "group" | "plural">): string =>
  group ? `${plural}.${group}` : plural;

/** kubectl's prefix of a name: `deployment.apps/web`. */
export const titleOf = ({ kind, group }: Pick<ServedType, "kind" | "group">): string =>
  group ? `${kind.toLowerCase()}.${group}` : kind.toLowerCase();

/** Kinds that Kubernetes and OpenKruise both have: only the group distinguishes them. */
const SHARED_KINDS: ReadonlySet<string> = new Set(["DaemonSet", "StatefulSet"]);

/** The shortest word that names this kind and no other: `cloneset`, `statefulset.apps.kruise.io`. */
export function wordOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): string {
  const { group } = parseApiVersion(apiVersion);
  return SHARED_KINDS.has(kind) ? titleOf({ kind, group }) : kind.toLowerCase();
}

export const kindOf = (type: ServedType): AnyKind => {
  const { group, version, kind, plural, scope } = type;
  return dynamicKind({ group, version, kind, plural, scope });
};
