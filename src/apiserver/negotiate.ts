/** Which representation a client gets: the first acceptable clause of its `Accept` header. */
import { ApiError, notAcceptable } from "../machinery/index.ts";

export interface Representation {
  format: "json" | "yaml";
  as: "object" | "table" | "metadata";
}

export interface Accepted {
  format: "json" | "yaml";
  /** The `as` parameter with its group and version, as it was asked for. */
  as?: { kind: string; group: string; version: string };
}

const OFFERED = "application/json, application/yaml";

const JSON_OBJECT: Representation = { format: "json", as: "object" };

/** For reads and writes of objects: as they are, as a Table, or their metadata only. */
export function representationOf(accept: string | undefined, isList: boolean): Representation {
  if (accept === undefined || accept === "" || accept === "application/json" || accept === "*/*") return JSON_OBJECT;
  const { format, as } = negotiate(accept, ({ kind, group, version }) => group === "meta.k8s.io" && version === "v1" && (kind === "Table" || kind === (isList ? "PartialObjectMetadataList" : "PartialObjectMetadata")));
  return { format, as: as === undefined ? "object" : as.kind === "Table" ? "table" : "metadata" };
}

/** The first clause that can be served; throws 406 when there is none. `offers` says which `as=` forms the endpoint has. */
export function negotiate(accept: string | undefined, offers: (as: NonNullable<Accepted["as"]>) => boolean): Accepted {
  let mediaTypeKnown = false;
  for (const { type, parameters } of parseAccept(accept ?? "")) {
    const format = FORMATS.get(type);
    if (!format) continue;
    mediaTypeKnown = true;
    const kind = parameters.get("as");
    if (kind === undefined) return { format };
    const as = { kind, group: parameters.get("g") ?? "", version: parameters.get("v") ?? "" };
    if (offers(as)) return { format, as };
  }
  if (mediaTypeKnown) throw withoutDetails(`only the following media types are accepted: ${OFFERED}`);
  throw notAcceptable(`406: Not Acceptable\n\nAvailable representations: ${OFFERED}\n`);
}

/** A map, because the keys are looked up with what a client sent. */
const FORMATS = new Map<string, "json" | "yaml">([
  ["", "json"],
  ["*/*", "json"],
  ["application/json", "json"],
  ["application/yaml", "yaml"],
]);

interface Clause {
  type: string;
  parameters: Map<string, string>;
  quality: number;
}

/** More clauses than any client sends are not looked at. */
const MAX_CLAUSES = 32;

function parseAccept(accept: string): Clause[] {
  const clauses = accept
    .split(",", MAX_CLAUSES)
    .map((text) => {
      const [type = "", ...rest] = text.split(";").map((part) => part.trim());
      const parameters = new Map(rest.map((part) => [part.slice(0, part.indexOf("=")).trim(), part.slice(part.indexOf("=") + 1).trim()]));
      const quality = Number(parameters.get("q") ?? 1);
      return { type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 1 : quality };
    });
  // The sort is stable, so equal qualities keep the order of the client.
  return clauses.sort((a, b) => b.quality - a.quality);
}

function withoutDetails(message: string): ApiError {
  return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason: "NotAcceptable", code: 406 });
}
