/** Responses as bytes: objects and lists from cached bytes, failures as a Status, and the common headers. */
import type { JsonObject } from "@flotilla/base";
import { formatYaml } from "@flotilla/apimachinery";
import type { ApiError, Status } from "@flotilla/apimachinery";
import type { CachedEntry } from "../store/cache.ts";
import { listItems } from "../serve/list-items.ts";
import { withoutDetails } from "./negotiate.ts";
import type { Representation } from "./negotiate.ts";
import { listMetadata } from "../serve/operations.ts";
import type { Answer } from "../serve/operations.ts";
import type { ListResult } from "../read/read.ts";
import { bodyIn, objectIn, piecesIn } from "../codec/render.ts";
import type { ApiResponse, ByteStream } from "./request.ts";
import type { ServedVersion } from "../resources/resources.ts";
import { metadataListOf, partialMetadata, tableOf } from "../read/table.ts";
import type { TableOptions } from "../read/table.ts";

const encoder = new TextEncoder();
export const encode = (text: string): Uint8Array => encoder.encode(text);

const PRIVATE = "no-cache, private";

export function jsonResponse(
  status: number,
  value: unknown,
  headers: Record<string, string | string[]> = {},
): ApiResponse {
  return {
    status,
    headers: { "content-type": "application/json", "cache-control": PRIVATE, ...headers },
    body: encode(JSON.stringify(value)),
  };
}

export function textResponse(status: number, text: string, headers: Record<string, string> = {}): ApiResponse {
  return {
    status,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": PRIVATE,
      "x-content-type-options": "nosniff",
      ...headers,
    },
    body: encode(text),
  };
}

export function statusResponse({ status }: ApiError, format: Representation["format"] = "json"): ApiResponse {
  const retry = status.details?.retryAfterSeconds;
  return valueResponse(status.code, status, format, retry === undefined ? {} : { "retry-after": String(retry) });
}

function valueResponse(
  code: number,
  value: JsonObject | Status,
  format: Representation["format"],
  headers: Record<string, string> = {},
  pretty = false,
): ApiResponse {
  if (format === "json" && !pretty) return jsonResponse(code, value, headers);
  const body = format === "json" ? `${JSON.stringify(value, null, 2)}\n` : formatYaml(value);
  return {
    status: code,
    headers: { "content-type": `application/${format}`, "cache-control": PRIVATE, ...headers },
    body: encode(body),
  };
}

/** The response in the requested representation. Throws 406 for one that is not available. */
export function answerResponse(answer: Answer, representation: Representation, options: TableOptions): ApiResponse {
  const { format, as, version, pretty } = representation;
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
        throw withoutDetails(
          `you requested PartialObjectMetadataList, but the requested object is not a list (${typeName(served, "")})`,
        );
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
  const objects = (): JsonObject[] => result.entries.map((entry) => objectIn(entry, served));
  switch (as) {
    case "table":
      return respond(200, tableOf(served, objects(), listMetadata(result, served, true), options));
    case "metadata":
      throw withoutDetails(
        `you requested PartialObjectMetadata, but the requested object is a list (${typeName(served, "List")})`,
      );
    case "metadata-list":
      return respond(200, metadataListOf(objects(), listMetadata(result, served), version));
    default:
  }
  if (format === "yaml" || pretty)
    return respond(200, {
      kind: served.resource.listKind,
      apiVersion: served.apiVersion,
      metadata: listMetadata(result, served),
      items: served.resource.kind.builtIn ? objects().map(withoutType) : objects(),
    });
  return {
    status: 200,
    headers: { "content-type": "application/json", "cache-control": PRIVATE },
    ...listBody(served, result),
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

function listBody(served: ServedVersion, result: ListResult): Pick<ApiResponse, "body" | "release"> {
  const { resource, apiVersion } = served;
  const head = encode(
    `{"kind":${JSON.stringify(resource.listKind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":${JSON.stringify(listMetadata(result, served))},"items":[`,
  );
  const { chunks, release } = listItems(result.entries, served);
  return { body: [head, ...chunks], release };
}

/** One line of a watch: `{"type":…,"object":…}` and a line feed. */
function eventLine(type: string, pieces: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([encode(`{"type":"${type}","object":`), ...pieces, EVENT_END]);
}
const EVENT_END = encode("}\n");

/** The bytes of one entry as a watch event. */
export function entryLine(type: string, entry: CachedEntry, served: ServedVersion, revision: number): Uint8Array {
  return eventLine(type, piecesIn(entry, served, revision));
}

/** Chunks that are produced one by one (a followed log), consumed as fast as the client reads them. */
export function streamOf(chunks: AsyncIterable<Uint8Array>): ByteStream {
  return {
    open(sink) {
      let closed = false;
      const pump = async (): Promise<void> => {
        for await (const chunk of chunks) {
          if (closed) return;
          if (!sink.write(chunk)) await new Promise<void>((resume) => sink.onDrain(resume));
        }
      };
      // The status line has already been sent, so a failing source can only end the stream early.
      const end = (): void => {
        if (!closed) sink.end();
      };
      pump().then(end, end);
      return () => {
        closed = true;
      };
    },
  };
}
