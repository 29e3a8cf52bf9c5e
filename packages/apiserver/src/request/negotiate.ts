/** Content negotiation: selects the first acceptable clause of the `Accept` header. */
import { ApiError, notAcceptable } from "@flotilla/apimachinery";

type Format = "json" | "yaml" | "protobuf";

export interface Representation {
  format: Format;
  as: "object" | "table" | "metadata" | "metadata-list";
  /** The version of `meta.k8s.io` for tables and metadata. */
  version: "v1" | "v1beta1";
  /** Indented, for people. */
  pretty: boolean;
}

/** The `as` parameter of a clause with its group and version. */
interface Form {
  kind: string;
  group: string;
  version: string;
}

export interface Accepted {
  format: Format;
  as?: Form;
  pretty: boolean;
}

const OFFERED = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

const JSON_OBJECT: Representation = { format: "json", as: "object", version: "v1", pretty: false };
const PRETTY_OBJECT: Representation = { ...JSON_OBJECT, pretty: true };

const KINDS: ReadonlyMap<string, Representation["as"]> = new Map([
  ["Table", "table"],
  ["PartialObjectMetadata", "metadata"],
  ["PartialObjectMetadataList", "metadata-list"],
]);

/** What an endpoint can return besides JSON and YAML. Reviews have no columns and therefore no table. */
export interface Offer {
  table: boolean;
  /** Whole objects; those of custom kinds have no protobuf form. */
  protobuf: boolean;
  /** Metadata only, which has a protobuf form for every kind. */
  protobufMetadata: boolean;
}

/**
 * For reads and writes of objects: whole, as a Table, or their metadata only. Whether the response is a list is known
 * later, so the renderer rejects a form that does not match.
 */
export function representationOf(
  { accept, "user-agent": agent = "" }: Readonly<Record<string, string | undefined>>,
  query: URLSearchParams,
  offer: Offer,
): Representation {
  const pretty = isPretty(query, agent);
  if (accept === undefined || accept === "" || accept === "application/json" || accept === "*/*")
    return pretty ? PRETTY_OBJECT : JSON_OBJECT;
  const offers = (as: Form | undefined, asked: Format): boolean => {
    const isProtobuf = asked === "protobuf";
    if (!as) return !isProtobuf || offer.protobuf;
    if (as.group !== "meta.k8s.io" || (as.version !== "v1" && as.version !== "v1beta1")) return false;
    if (as.kind === "Table") return offer.table && !isProtobuf;
    return KINDS.has(as.kind) && (!isProtobuf || offer.protobufMetadata);
  };
  const { format, as, pretty: asked } = negotiate(accept, offers);
  return {
    format,
    as: (as && KINDS.get(as.kind)) ?? "object",
    version: as?.version === "v1beta1" ? "v1beta1" : "v1",
    pretty: pretty || asked,
  };
}

/** Browsers and command-line tools get indented output, unless they request otherwise. */
function isPretty(query: URLSearchParams, agent: string): boolean {
  const asked = query.get("pretty");
  if (asked) return TRUE.has(asked);
  return agent.startsWith("curl") || agent.startsWith("Wget") || agent.startsWith("Mozilla/5.0");
}

const TRUE: ReadonlySet<string> = new Set(["1", "t", "T", "TRUE", "true", "True"]);

/** The format of a failure: YAML or protobuf for clients that accept nothing else before it. */
export function failureFormat(accept: string | undefined): Format {
  if (!accept?.includes("yaml") && !accept?.includes("protobuf")) return "json";
  for (const { type, parameters } of parseAccept(accept)) {
    const format = FORMATS.get(type);
    // A failure is never a table or metadata.
    if (format && (format !== "protobuf" || !parameters.has("as"))) return format;
  }
  return "json";
}

/**
 * The first supported clause; throws 406 when there is none. `offers` returns whether the endpoint supports a format and
 * an `as=` form.
 */
export function negotiate(
  accept: string | undefined,
  offers: (as: Form | undefined, format: Format) => boolean,
): Accepted {
  let mediaTypeKnown = false;
  for (const { type, parameters } of parseAccept(accept ?? "")) {
    const format = FORMATS.get(type);
    if (!format) continue;
    mediaTypeKnown = true;
    const kind = parameters.get("as");
    const pretty = TRUE.has(parameters.get("pretty") ?? "");
    const as =
      kind === undefined ? undefined : { kind, group: parameters.get("g") ?? "", version: parameters.get("v") ?? "" };
    if (offers(as, format)) return { format, as, pretty };
  }
  if (mediaTypeKnown) throw withoutDetails(`only the following media types are accepted: ${OFFERED}`);
  throw notAcceptable(`406: Not Acceptable\n\nAvailable representations: ${OFFERED}`);
}

/** A map, because the keys come from client input. */
const FORMATS = new Map<string, Format>([
  ["", "json"],
  ["*/*", "json"],
  ["application/json", "json"],
  ["application/yaml", "yaml"],
  ["application/vnd.kubernetes.protobuf", "protobuf"],
]);

interface Clause {
  type: string;
  parameters: Map<string, string>;
  quality: number;
}

/** Further clauses are ignored; no client sends as many. */
const MAX_CLAUSES = 32;

/** A program sends the same few headers all the time. Emptied when it is full: the headers come from clients. */
const parsed = new Map<string, readonly Clause[]>();
const MAX_PARSED = 64;
/** Longer headers are not worth the memory. */
const MAX_PARSED_LENGTH = 512;

function parseAccept(accept: string): readonly Clause[] {
  const known = parsed.get(accept);
  if (known) return known;
  const clauses = clausesOf(accept);
  if (accept.length > MAX_PARSED_LENGTH) return clauses;
  if (parsed.size >= MAX_PARSED) parsed.clear();
  parsed.set(accept, clauses);
  return clauses;
}

function clausesOf(accept: string): readonly Clause[] {
  const clauses = accept.split(",", MAX_CLAUSES).map((text) => {
    const [type = "", ...rest] = text.split(";").map((part) => part.trim());
    const parameters = new Map(
      rest.map((part) => [part.slice(0, part.indexOf("=")).trim(), part.slice(part.indexOf("=") + 1).trim()]),
    );
    const quality = Number(parameters.get("q") ?? 1);
    return { type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 1 : quality };
  });
  // The sort is stable, so clauses of equal quality keep the client's order.
  return clauses.sort((a, b) => b.quality - a.quality);
}

/** The first accepted media type that is offered; the first offer for clients that accept anything. */
export function acceptedType(accept: string | undefined, offered: readonly string[]): string | undefined {
  if (accept === undefined || accept === "") return offered[0];
  for (const { type } of parseAccept(accept)) {
    if (type === "*/*" || type === "application/*") return offered[0];
    if (offered.includes(type)) return type;
  }
  return undefined;
}

/** A negotiation error has no details, unlike every other error. */
export function withoutDetails(message: string): ApiError {
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason: "NotAcceptable",
    code: 406,
  });
}
