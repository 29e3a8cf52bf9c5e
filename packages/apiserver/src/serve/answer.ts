/** The result of an operation as a response: objects and lists from cached bytes, tables, and partial metadata. */
import { defined } from "@flotilla/base";
import { formatYaml } from "@flotilla/apimachinery";
import type { ProtobufCodec } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import type { Answer } from "../actions/action.ts";
import { documentOf, PROTOBUF, protobufEnvelope, rendererOf } from "../codec/protobuf.ts";
import type { MessageRenderer } from "../codec/protobuf.ts";
import { bodyIn, objectIn } from "../codec/render.ts";
import type { ListResult } from "../read/read.ts";
import { metadataListOf, metadataOnly, partialMetadata, tableOf } from "../read/object-table.ts";
import type { TableOptions } from "../read/object-table.ts";
import { withoutDetails } from "../request/negotiate.ts";
import type { Representation } from "../request/negotiate.ts";
import type { ApiResponse } from "../request/request.ts";
import { PRIVATE, encode, valueResponse } from "../request/respond.ts";
import type { ServedVersion } from "../resources/resources.ts";
import type { CachedEntry } from "../store/cache.ts";
import { streamOf } from "../request/byte-streams.ts";
import { listItems } from "./list-items.ts";
import { isLongList, isLongToRender, listParts, renderedParts } from "./list-stream.ts";
import type { ListFrame } from "./list-stream.ts";
import { protobufListBody } from "./protobuf-list.ts";
import { LONG_LIST_ENTRIES } from "./request-turns.ts";

/**
 * The response in the requested representation. Throws 406 for one that is not available. `pause` resolves when the
 * next part of a long list may be made.
 */
export function answerResponse(
  answer: Answer,
  representation: Representation,
  options: TableOptions,
  pause: () => Promise<void>,
  protobuf?: ProtobufCodec,
): ApiResponse {
  const { format, as, version, pretty } = representation;
  if (format === "protobuf") return protobufResponse(answer, representation, pause, protobuf);
  const respond = (code: number, value: JsonObject): ApiResponse => valueResponse(code, value, format, {}, pretty);
  if (answer.type === "object") return respond(answer.code, answer.object);
  const { served } = answer;
  if (answer.type === "entry") {
    const { entry, code } = answer;
    switch (as) {
      case "table":
        return respond(
          code,
          tableOf(served, [objectIn(entry, served)], { resourceVersion: String(entry.revision) }, options),
        );
      case "metadata":
        return respond(code, partialMetadata(objectIn(entry, served), version));
      case "metadata-list":
        throw notAList(served);
      default:
    }
    if (format === "yaml" || pretty) return respond(code, objectIn(entry, served));
    return {
      status: code,
      headers: { "content-type": "application/json", "cache-control": PRIVATE },
      body: bodyIn(entry, served),
    };
  }
  const { result } = answer;
  const frame = isLongToRender(result.entries) ? frameOf(result, served, representation, options) : undefined;
  if (frame)
    return {
      status: 200,
      headers: { "content-type": `application/${format}`, "cache-control": PRIVATE },
      body: streamOf(renderedParts(frame, result.entries, served, pause)),
      isFinite: true,
    };
  const objects = (): JsonObject[] => result.entries.map((entry) => objectIn(entry, served));
  switch (as) {
    case "table":
      return respond(200, tableOf(served, objects(), listMetadata(result, served, true), options));
    case "metadata":
      throw isAList(served);
    case "metadata-list":
      return respond(200, metadataListOf(objects(), listMetadata(result, served), version));
    default:
  }
  if (format === "yaml" || (pretty && result.entries.length <= LONG_LIST_ENTRIES && !isLongList(result.entries)))
    return respond(200, wholeList(result, served, objects()));
  return {
    status: 200,
    headers: { "content-type": "application/json", "cache-control": PRIVATE },
    ...listBody(served, result, pause),
  };
}

const notAList = (served: ServedVersion): Error =>
  withoutDetails(
    `you requested PartialObjectMetadataList, but the requested object is not a list (${typeName(served, "")})`,
  );
const isAList = (served: ServedVersion): Error =>
  withoutDetails(
    `you requested PartialObjectMetadata, but the requested object is a list (${typeName(served, "List")})`,
  );

/** Negotiation returns this format only for what has a protobuf form, and never for tables. */
function protobufResponse(
  answer: Answer,
  { as, version }: Representation,
  pause: () => Promise<void>,
  codec: ProtobufCodec | undefined,
): ApiResponse {
  const headers = (): ApiResponse["headers"] => ({ "content-type": PROTOBUF, "cache-control": PRIVATE });
  if (answer.type === "object") {
    const body = codec && documentOf(codec, answer.object);
    return body ? { status: answer.code, headers: headers(), body } : valueResponse(answer.code, answer.object, "json");
  }
  const { served } = answer;
  const renderer = rendererOf(codec, served, as === "object" ? "object" : version, metadataOnly);
  if (answer.type === "entry") {
    if (as === "metadata-list") throw notAList(served);
    return { status: answer.code, headers: headers(), body: entryDocument(renderer, answer.entry) };
  }
  if (as === "metadata") throw isAList(served);
  const { result } = answer;
  const metadata = listMetadata(result, served, true);
  return { status: 200, headers: headers(), ...protobufListBody(renderer, metadata, result.entries, pause) };
}

function entryDocument(renderer: MessageRenderer, entry: CachedEntry): readonly Uint8Array[] {
  const message = renderer.message(entry);
  const { head, tail } = protobufEnvelope(renderer.apiVersion, renderer.kind, message.byteLength);
  return [head, message, tail];
}

function wholeList(result: ListResult, served: ServedVersion, objects: readonly JsonObject[]): JsonObject {
  return {
    kind: served.resource.listKind,
    apiVersion: served.apiVersion,
    metadata: listMetadata(result, served),
    items: served.resource.kind.builtIn ? objects.map(withoutType) : [...objects],
  };
}

/**
 * How a long list is rendered in parts; undefined for one that is copied. Long lists are not indented. A table or
 * metadata in YAML, which no client requests, is sent whole.
 */
function frameOf(
  result: ListResult,
  served: ServedVersion,
  { format, as, version }: Representation,
  options: TableOptions,
): ListFrame | undefined {
  const around = (empty: string, items: string): [string, string] => {
    const at = empty.lastIndexOf(items);
    return [empty.slice(0, at), empty.slice(at + items.length)];
  };
  if (format === "json" && as !== "object") {
    const metadata = listMetadata(result, served, as === "table");
    const itemsOf = (objects: readonly JsonObject[]): JsonObject =>
      as === "table" ? tableOf(served, objects, metadata, options) : metadataListOf(objects, metadata, version);
    const field = as === "table" ? "rows" : "items";
    const [head, tail] = around(JSON.stringify(itemsOf([])), "]");
    return {
      head,
      tail: `]${tail}`,
      separator: ",",
      render: (some) => JSON.stringify(itemsOf(some)[field]).slice(1, -1),
    };
  }
  if (format !== "yaml" || as !== "object") return undefined;
  const [head, tail] = around(formatYaml(wholeList(result, served, [])), "items: []\n");
  const { builtIn } = served.resource.kind;
  return {
    head: `${head}items:\n`,
    tail,
    separator: "",
    // Lists are flush with their key, so the text of some items is a part of the whole.
    render: (some) => formatYaml(builtIn ? some.map(withoutType) : some),
  };
}

/** Items of built-in lists omit their kind: the list specifies it. */
function withoutType({ apiVersion: _version, kind: _kind, ...rest }: JsonObject): JsonObject {
  return rest;
}

/** The Go type name of an object, which some of kube-apiserver's messages contain. */
function typeName({ resource: { kind } }: ServedVersion, suffix: "" | "List"): string {
  if (!kind.builtIn) return `*unstructured.Unstructured${suffix}`;
  const group = kind.group === "events.k8s.io" ? "" : kind.group;
  return `*${group.split(".", 1)[0] || "core"}.${kind.kind}${suffix}`;
}

function listBody(
  served: ServedVersion,
  result: ListResult,
  pause: () => Promise<void>,
): Pick<ApiResponse, "body" | "release" | "isFinite"> {
  const { resource, apiVersion } = served;
  const head = encode(
    `{"kind":${JSON.stringify(resource.listKind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":` +
      `${JSON.stringify(listMetadata(result, served))},"items":[`,
  );
  if (isLongList(result.entries))
    return { body: streamOf(listParts(head, result.entries, served, pause)), isFinite: true };
  const { chunks, release } = listItems(result.entries, served);
  return { body: [head, ...chunks], release };
}

/** The metadata of a list response. */
export function listMetadata(
  { revision, continueToken, remaining }: ListResult,
  { resource }: ServedVersion,
  isTable = false,
): JsonObject {
  // Lists of custom resources contain an empty continue token on the last page; those of built-in kinds omit it.
  const lastToken = resource.kind.builtIn || isTable ? undefined : "";
  return {
    resourceVersion: String(revision),
    ...defined({ continue: continueToken ?? lastToken, remainingItemCount: remaining }),
  };
}
