/** A manifest as passed to the rules: the object, its title, and its position. */
import { parseApiVersion, parseYamlBody } from "@flotilla/apimachinery";
import { isObject, defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { readDocuments } from "../interpret/documents.ts";
import type { Document } from "../interpret/documents.ts";
import { manifestsOf } from "../interpret/customizations.ts";
import { SourceError } from "../interpret/sources.ts";
import type { Source } from "../interpret/sources.ts";
import { itemsAt, labelsAt, textAt } from "./fields.ts";
import type { FieldPath } from "./fields.ts";
import { createLineNumbers } from "./line-numbers.ts";

/** On a manifest, or in a comment of its document: rules to skip for it. */
const LINT_IGNORE = "flotilla.dev/lint-ignore";

export interface LintManifest {
  readonly object: JsonObject;
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name: string;
  /** As written; empty if not set. */
  readonly namespace: string;
  /** `CloneSet shop/web` */
  readonly title: string;
  readonly file: string;
  readonly scripts: Document["scripts"];
  /** Keys that its document has twice in one mapping, with the line of the second value. */
  readonly repeatedKeys?: readonly RepeatedKey[];
  /** Rules that its author disabled; `*` means all. */
  readonly ignored: ReadonlySet<string>;
  /** The ManifestWork or ManifestWorkReplicaSet that contains it. */
  readonly inside?: { readonly work: LintManifest; readonly path: FieldPath };
  lineOf(path: FieldPath): number;
}

interface RepeatedKey {
  readonly key: string;
  readonly line: number;
}

/** Where a ManifestWork and a ManifestWorkReplicaSet have their manifests. */
const WORKLOADS: Readonly<Record<string, FieldPath>> = {
  "work.open-cluster-management.io/ManifestWork": ["spec", "workload", "manifests"],
  "work.open-cluster-management.io/ManifestWorkReplicaSet": ["spec", "manifestWorkTemplate", "workload", "manifests"],
};

export interface ReadManifests {
  /** Each work is followed by its manifests. */
  manifests: LintManifest[];
  /** Texts that cannot be parsed, with the reason. */
  unreadable: { file: string; line: number; message: string }[];
  /** The number of documents that are not manifests and do not resemble any: patches, fixtures, chart values. */
  passedOver: number;
}

export function readLintManifests(sources: readonly Source[]): ReadManifests {
  const read: ReadManifests = { manifests: [], unreadable: [], passedOver: 0 };
  for (const source of sources) {
    try {
      const documents = readDocuments(source);
      const given = documents.filter(
        ({ value }) => isObject(value) && (value["kind"] !== undefined || value["apiVersion"] !== undefined),
      );
      read.passedOver += documents.length - given.length;
      read.manifests.push(...manifestsIn(source, given));
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      const line = /:(\d+):|\bline (\d+):/.exec(error.message.replace(source.name, ""));
      read.unreadable.push({
        file: source.name,
        line: Number(line?.[1] ?? line?.[2] ?? 1),
        message: error.message.replace(/^reading [^ ]*: (?:line \d+: )?/, ""),
      });
    }
  }
  return read;
}

function manifestsIn({ text: whole }: Source, documents: readonly Document[]): LintManifest[] {
  const texts = documentTexts(whole);
  // Both are in file order, and some texts have no document.
  let at = 0;
  return documents.flatMap((document) => {
    while ((texts[at + 1]?.firstLine ?? Infinity) <= document.line) at += 1;
    const { text = "", firstLine = document.line } = texts[at] ?? {};
    const find = createLineNumbers(text);
    const comments = ignoredIn([...text.matchAll(IGNORE_COMMENT)].map(([, ids = ""]) => ids).join(","));
    const repeatedKeys = repeatedIn(text, firstLine);
    return manifestsOf([document]).flatMap(({ object, file, line, scripts }, index, all) => {
      const start: FieldPath = all.length > 1 ? ["items", index] : [];
      const place = {
        file,
        scripts,
        // Once for a document.
        ...defined({ repeatedKeys: index === 0 && repeatedKeys.length > 0 ? repeatedKeys : undefined }),
        lineOf: (path: FieldPath): number => (find([...start, ...path]) ?? line - firstLine + 1) + firstLine - 1,
      };
      const manifest = createLintManifest(object, place, comments);
      return [manifest, ...broughtBy(manifest)];
    });
  });
}

/** `line 7: key "a" already set in map`, in the lines of the file. */
const repeatedIn = (text: string, firstLine: number): RepeatedKey[] =>
  parseYamlBody(text).repeated.flatMap((message) => {
    const [, line = "", key = ""] = /^line (\d+): key "(.*)" already set in map$/.exec(message) ?? [];
    return key === "" ? [] : [{ key, line: Number(line) + firstLine - 1 }];
  });

const IGNORE_COMMENT = /^[ \t]*#[ \t]*flotilla\.dev\/lint-ignore:(.*)$/gm;

/** The documents of a text as kubectl splits it, each with its first line. */
function documentTexts(text: string): { text: string; firstLine: number }[] {
  let firstLine = 1;
  return text
    .replace(/^\uFEFF/, "")
    .replaceAll("\r\n", "\n")
    .split(/^---.*$/m)
    .map((part) => {
      const document = { text: part, firstLine };
      firstLine += part.split("\n").length - 1;
      return document;
    });
}

export interface ManifestPlace {
  file: string;
  scripts: Document["scripts"];
  lineOf(path: FieldPath): number;
  repeatedKeys?: LintManifest["repeatedKeys"];
  inside?: LintManifest["inside"];
}

export function createLintManifest(
  object: JsonObject,
  place: ManifestPlace,
  inherited: ReadonlySet<string> = new Set(),
): LintManifest {
  const { group, version } = parseApiVersion(textAt(object, "apiVersion"));
  const [kind, name, namespace] = [
    textAt(object, "kind"),
    textAt(object, "metadata", "name") || textAt(object, "metadata", "generateName"),
    textAt(object, "metadata", "namespace"),
  ];
  const own = labelsAt(object, "metadata", "annotations")[LINT_IGNORE];
  return {
    ...place,
    object,
    group,
    version,
    kind,
    name,
    namespace,
    title: `${kind} ${namespace ? `${namespace}/` : ""}${name}`,
    ignored: own === undefined ? inherited : new Set([...inherited, ...ignoredIn(own)]),
  };
}

function broughtBy(work: LintManifest): LintManifest[] {
  const list = WORKLOADS[`${work.group}/${work.kind}`];
  if (!list) return [];
  return itemsAt(work.object, ...list).flatMap(({ item, path }) => {
    if (textAt(item, "kind") === "") return [];
    return [
      createLintManifest(
        item,
        {
          file: work.file,
          scripts: work.scripts,
          lineOf: (within) => work.lineOf([...path, ...within]),
          inside: { work, path },
        },
        work.ignored,
      ),
    ];
  });
}

const ignoredIn = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .split(",")
      .map((id) => id.trim())
      .filter((id) => id !== ""),
  );

export const isIgnored = ({ ignored }: LintManifest, rule: string): boolean => ignored.has(rule) || ignored.has("*");
