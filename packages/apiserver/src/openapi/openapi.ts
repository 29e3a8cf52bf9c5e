/**
 * OpenAPI documents. kubectl reads v3, one document per group and version, to detect field validation and to explain
 * kinds. v2, one document for everything, is for older clients and tools.
 *
 * Documents are built on first request and cached as bytes. Clusters that serve the same versions share them.
 */
import { defined } from "@flotilla/base";
import { createHash } from "node:crypto";
import type { JsonObject } from "@flotilla/base";
import { groupsOf, servedIn, subresourcesOf, versionsOf } from "../discovery/discovery.ts";
import { acceptedType } from "../request/negotiate.ts";
import { customName, customSchema } from "./custom.ts";
import { pathsOf, tagOf } from "./paths.ts";
import { encodeOpenApi } from "./protobuf-v3.ts";
import { encodeSwagger } from "./protobuf.ts";
import { Components } from "./type-components.ts";
import { swaggerOf } from "./v2.ts";
import type { V3Document } from "./v2.ts";
import type { ApiRequest, ApiResponse } from "../request/request.ts";
import { memoized } from "../resources/resources.ts";
import type { Resource, ResourceTable, ServedVersion } from "../resources/resources.ts";
import { encode, textResponse } from "../request/respond.ts";
import type { VersionInfo } from "../discovery/version.ts";

interface Document {
  body: Uint8Array;
  hash: string;
}

const NOTHING = new Uint8Array();
const PRIVATE = "no-cache, private";
const YEAR_MS = 365 * 24 * 3600 * 1000;
const V3_PROTOBUF = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
const V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/** `foreign` are the URLs of documents of other servers; `nowMs` determines the expiry time of a cacheable document. */
export function openApiV3Response(
  table: ResourceTable,
  foreign: ReadonlyMap<string, string>,
  name: string | undefined,
  request: ApiRequest,
  nowMs: number,
): ApiResponse {
  if (name === undefined) return indexResponse(table, foreign);
  const type = acceptedType(request.headers.accept, [
    "application/json",
    V3_PROTOBUF,
    V3_PROTOBUF.replace(".v1.0", "@v1.0"),
  ]);
  if (type === undefined) return { status: 406, headers: { "cache-control": PRIVATE, vary: "Accept" }, body: NOTHING };
  const document = documentOf(table, name);
  if (!document) return { status: 404, headers: { "cache-control": PRIVATE }, body: NOTHING };
  const { hash } = document;
  const contentType = type === "application/json" ? type : V3_PROTOBUF;
  const asked = request.query.get("hash");
  if (asked === null || asked === hash)
    return documentResponse(
      contentType === V3_PROTOBUF ? { hash, body: protobufOf(document) } : document,
      contentType,
      request,
      asked === null ? undefined : nowMs + YEAR_MS,
    );
  return {
    status: 301,
    headers: {
      location: `${request.path}?hash=${hash}`,
      "cache-control": PRIVATE,
      "content-type": contentType,
      etag: `"${hash}"`,
      vary: "Accept",
    },
    body: NOTHING,
  };
}

/** Few clients request this form, so it is encoded on first request. The hash is the one of the JSON form. */
const protobufForms = new WeakMap<Document, Uint8Array>();

function protobufOf(document: Document): Uint8Array {
  let body = protobufForms.get(document);
  if (!body)
    protobufForms.set(
      document,
      (body = encodeOpenApi(JSON.parse(Buffer.from(document.body).toString()) as JsonObject)),
    );
  return body;
}

/** With `expiresMs` the URL contains the content hash, so the content never changes. */
function documentResponse(
  { body, hash }: Document,
  type: string,
  request: ApiRequest,
  expiresMs?: number,
): ApiResponse {
  const etag = `"${hash}"`;
  const headers = {
    "content-type": type,
    etag,
    vary: "Accept",
    "cache-control": expiresMs === undefined ? PRIVATE : "public, immutable",
    ...defined({ expires: expiresMs === undefined ? undefined : new Date(expiresMs).toUTCString() }),
  };
  return request.headers["if-none-match"] === etag
    ? { status: 304, headers, body: NOTHING }
    : { status: 200, headers, body };
}

/**
 * The URLs have no prefix, as in Kubernetes: clients prepend the prefix they reach the server with. This is
 * `/clusters/<name>` or, through the proxy of a Cluster, another one that this server cannot know.
 */
function indexResponse(table: ResourceTable, foreign: ReadonlyMap<string, string>): ApiResponse {
  const paths = memoized(table, "openapi index", () =>
    namesOf(table).map((name) => [name, documentOf(table, name)?.hash ?? ""] as const),
  );
  return textResponse(
    200,
    JSON.stringify({
      paths: Object.fromEntries([
        ...paths.map(([name, hash]) => [name, { serverRelativeURL: `/openapi/v3/${name}?hash=${hash}` }]),
        ...[...foreign].map(([name, url]) => [name, { serverRelativeURL: url }]),
      ]),
    }),
  );
}

/** Pages that have documents besides those of the groups. */
const PAGES: ReadonlySet<string> = new Set([
  ".well-known/openid-configuration",
  "api",
  "apis",
  "openid/v1/jwks",
  "version",
]);

/** Documents of resources, and of the discovery pages. */
function namesOf(table: ResourceTable): string[] {
  const names = [...PAGES];
  for (const group of groupsOf(table)) {
    if (group !== "") names.push(`apis/${group}`);
    for (const version of versionsOf(table, group))
      names.push(group === "" ? `api/${version}` : `apis/${group}/${version}`);
  }
  return names.sort();
}

function documentOf(table: ResourceTable, name: string): Document | undefined {
  const [root, first = "", second, ...rest] = name.split("/");
  if (rest.length > 0 && !PAGES.has(name)) return undefined;
  const isPage = PAGES.has(name) || (root === "apis" && second === undefined && table.hasGroup(first));
  if (isPage) return memoized(table, `openapi ${name}`, () => finished(pageDocument(name)));
  const [group, version] = root === "api" ? ["", first] : [first, second ?? ""];
  if ((root !== "api" && root !== "apis") || (root === "api" && second !== undefined)) return undefined;
  const served = servedIn(table, group, version);
  if (served.length === 0) return undefined;
  return memoized(table, `openapi ${name}`, () => sharedDocument(served, `/${name}`));
}

const finished = (document: JsonObject): Document => {
  const body = encode(JSON.stringify(document));
  return { body, hash: hashOf(body) };
};
const hashOf = (body: Uint8Array): string => createHash("sha512").update(body).digest("hex").toUpperCase();

/** Documents by the first of their resources, so that tables that serve the same group share a document. */
const documents = new WeakMap<Resource, { served: readonly ServedVersion[]; document: Document }[]>();

function sharedDocument(served: readonly ServedVersion[], path: string): Document {
  const [first] = served;
  const known = (first && documents.get(first.resource)) ?? [];
  const same = known.find(
    (candidate) =>
      candidate.served.length === served.length && candidate.served.every((other, index) => other === served[index]),
  );
  if (same) return same.document;
  const document = finished(makeDocument(served, path));
  if (first) documents.set(first.resource, [...known, { served, document }]);
  return document;
}

const OPENAPI = { openapi: "3.0.0", info: { title: "Kubernetes", version: "1.36" } };
const SECURITY = {
  BearerToken: { type: "apiKey", description: "Bearer Token authentication", name: "authorization", in: "header" },
};

function makeDocument(served: readonly ServedVersion[], path: string): V3Document {
  const components = new Components();
  const groups = served.slice(0, 1).map(({ resource, version }) => ({ group: resource.kind.group, version }));
  components.addMeta("DeleteOptions", groups);
  components.addMeta("Status", groups);
  components.addObjectMeta();
  const paths: JsonObject = {};
  for (const one of served) Object.assign(paths, resourcePaths(one, path, components));
  return { ...OPENAPI, paths, components: { schemas: components.schemas, securitySchemes: SECURITY } };
}

function resourcePaths(served: ServedVersion, path: string, components: Components): JsonObject {
  const { kind, listKind } = served.resource;
  const own = { group: kind.group, version: served.version, kind: kind.kind };
  // Kinds without a fact table state their schema in code, as a CRD does.
  const hasTable = kind.versions[served.version]?.facts !== undefined;
  const object = hasTable ? components.addKind(own, kind.traits?.openApiPackage, served.schema) : customName(served);
  if (!hasTable) components.schemas[object] = customSchema(served);
  const list = components.addList(object, own, listKind, kind.builtIn);
  const others = new Map<string, string>();
  for (const { name, kind: other } of subresourcesOf(served.resource, served.subresources)) {
    // The options of connect subresources are query parameters, not a body; they have no schema.
    if (other && (other.version || kind.subresources.actions?.[name]))
      others.set(
        name,
        components.addKind({
          ...other,
          group: other.version ? other.group : own.group,
          version: other.version || own.version,
        }),
      );
  }
  return pathsOf(served, path, { object, list, ofSubresource: ({ name }) => others.get(name) ?? object });
}

/** A discovery or version page: JSON without a published schema. */
function pageDocument(name: string): V3Document {
  const group = name.startsWith("apis/") ? name.slice("apis/".length) : "core";
  const get = {
    tags: [tagOf(group, "").slice(0, -1)],
    operationId:
      "get" +
      name.replaceAll(/[^a-z0-9]+(.)|^(.)/gi, (_all, next: string | undefined, first: string | undefined) =>
        (next ?? first ?? "").toUpperCase(),
      ),
    responses: {
      "200": { description: "OK", content: { "application/json": { schema: { type: "object" } } } },
      "401": { description: "Unauthorized" },
    },
  };
  return { ...OPENAPI, paths: { [`/${name}/`]: { get } }, components: { schemas: {}, securitySchemes: SECURITY } };
}

/** `foreign` are the parts of other servers. */
export function openApiV2Response(
  table: ResourceTable,
  foreign: readonly ForeignPart[],
  { major, minor }: VersionInfo,
  request: ApiRequest,
): ApiResponse {
  // Clients request the form with the at sign, which Go cannot parse as the Content-Type of a response.
  const type = acceptedType(request.headers.accept, [
    "application/json",
    V2_PROTOBUF,
    V2_PROTOBUF.replace(".v1.0", "@v1.0"),
  ]);
  if (type === undefined) return { status: 406, headers: { "cache-control": PRIVATE, vary: "Accept" }, body: NOTHING };
  const own = (): JsonObject =>
    swaggerOf(
      groupsOf(table).flatMap((group) =>
        versionsOf(table, group).map((version) =>
          makeDocument(servedIn(table, group, version), group ? `/apis/${group}/${version}` : `/api/${version}`),
        ),
      ),
      `${major}.${minor}`,
    );
  if (foreign.length > 0) {
    const whole = withForeign(own(), foreign);
    if (type === "application/json") return documentResponse(finished(whole), type, request);
    const body = encodeSwagger(whole);
    return documentResponse({ body, hash: hashOf(body) }, V2_PROTOBUF, request);
  }
  if (type === "application/json")
    return documentResponse(
      memoized(table, "openapi v2", () => finished(own())),
      type,
      request,
    );
  const document = memoized(table, "openapi v2 protobuf", () => {
    const body = encodeSwagger(own());
    return { body, hash: hashOf(body) };
  });
  return documentResponse(document, V2_PROTOBUF, request);
}

interface ForeignPart {
  readonly paths: JsonObject;
  readonly definitions: JsonObject;
}

/** Of definitions with the same name, those of this server are kept. */
function withForeign(swagger: JsonObject, foreign: readonly ForeignPart[]): JsonObject {
  const paths: JsonObject = {};
  const definitions: JsonObject = {};
  for (const part of foreign) {
    Object.assign(paths, part.paths);
    Object.assign(definitions, part.definitions);
  }
  return {
    ...swagger,
    paths: { ...(swagger.paths as JsonObject), ...paths },
    definitions: { ...definitions, ...(swagger.definitions as JsonObject) },
  };
}
