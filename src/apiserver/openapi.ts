/**
 * OpenAPI documents. kubectl reads v3 to learn that fields are validated here, and to explain kinds; v2 is there for clients
 * that insist on one, and says no more than that it exists.
 */
import { createHash } from "node:crypto";
import type { JsonObject } from "../base/index.ts";
import { OBJECT_META } from "../machinery/index.ts";
import type { Schema } from "../machinery/index.ts";
import { servedIn } from "./discovery.ts";
import { PageNotFound } from "./operations.ts";
import type { ApiRequest, ApiResponse } from "./request.ts";
import { memoized } from "./resources.ts";
import type { Resource, ResourceTable, ServedVersion } from "./resources.ts";
import { encode, textResponse } from "./respond.ts";
import type { VersionInfo } from "./version.ts";

interface Document {
  body: Uint8Array;
  hash: string;
}

const YEAR_SECONDS = 365 * 24 * 3600;

export function openApiV3Response(table: ResourceTable, name: string | undefined, request: ApiRequest): ApiResponse {
  if (name === undefined) return indexResponse(table, request);
  const document = documentOf(table, name);
  if (!document) throw new PageNotFound();
  const { body, hash } = document;
  const asked = request.query.get("hash");
  if (asked !== null && asked !== hash) {
    return { status: 301, headers: { location: `${request.path}?hash=${hash}`, "cache-control": "no-cache, private", "content-type": "text/plain; charset=utf-8" }, body: new Uint8Array() };
  }
  const etag = `"${hash}"`;
  const headers = { "content-type": "application/json", etag, vary: "Accept", "cache-control": asked === null ? "no-cache, private" : `public, immutable, max-age=${YEAR_SECONDS}` };
  return request.headers["if-none-match"] === etag ? { status: 304, headers, body: new Uint8Array() } : { status: 200, headers, body };
}

function indexResponse(table: ResourceTable, { path }: ApiRequest): ApiResponse {
  const base = path.slice(0, path.indexOf("/openapi/v3"));
  const versions = new Set(table.resources.flatMap((resource) => resource.versions.map(({ apiVersion }) => apiVersion)));
  const paths: JsonObject = {};
  for (const apiVersion of [...versions].sort()) {
    const name = apiVersion.includes("/") ? `apis/${apiVersion}` : `api/${apiVersion}`;
    paths[name] = { serverRelativeURL: `${base}/openapi/v3/${name}?hash=${documentOf(table, name)?.hash ?? ""}` };
  }
  return textResponse(200, JSON.stringify({ paths }));
}

function documentOf(table: ResourceTable, name: string): Document | undefined {
  const [root, first = "", second, ...rest] = name.split("/");
  const [group, version] = root === "api" ? ["", first] : [first, second ?? ""];
  if (rest.length > 0 || (root !== "api" && root !== "apis") || (root === "api" && second !== undefined)) return undefined;
  const served = servedIn(table, group, version);
  if (served.length === 0) return undefined;
  return memoized(table, `openapi ${name}`, () => sharedDocument(served, `/${name}`));
}

/** Documents by the first of their resources, so that tables that serve the same group share its document. */
const documents = new WeakMap<Resource, { served: readonly ServedVersion[]; document: Document }[]>();

function sharedDocument(served: readonly ServedVersion[], path: string): Document {
  const [first] = served;
  if (!first) return makeDocument(served, path);
  const known = documents.get(first.resource) ?? [];
  const same = known.find((candidate) => candidate.served.length === served.length && candidate.served.every((other, index) => other === served[index]));
  if (same) return same.document;
  const document = makeDocument(served, path);
  documents.set(first.resource, [...known, { served, document }]);
  return document;
}

function makeDocument(served: readonly ServedVersion[], path: string): Document {
  const components = new Components(served[0]?.resource.kind.builtIn === true);
  const paths: JsonObject = {};
  for (const version of served) {
    components.addKind(version);
    Object.assign(paths, pathsOf(version, path));
  }
  const body = encode(JSON.stringify({ openapi: "3.0.0", info: { title: "Kubernetes", version: "v1.36.3" }, paths, components: { schemas: components.schemas } }));
  return { body, hash: createHash("sha512").update(body).digest("hex").toUpperCase() };
}

interface OpenApiOperation {
  [key: string]: unknown;
}

function pathsOf({ resource, version }: ServedVersion, base: string): JsonObject {
  const { kind, name, namespaced } = resource;
  const gvk = { group: kind.group, kind: kind.kind, version };
  const schema = { $ref: `#/components/schemas/${componentName(resource, version)}` };
  const operation = (action: string, writes: boolean): OpenApiOperation => ({
    operationId: `${action}${kind.kind}${version}`,
    responses: { "200": { description: "OK", content: { "application/json": { schema } } } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": gvk,
    ...(writes && { parameters: WRITE_PARAMETERS, ...(action !== "patch" && { requestBody: { content: { "*/*": { schema } } } }) }),
  });
  const parameter = (parameterName: string): object => ({ in: "path", name: parameterName, required: true, schema: { type: "string" } });
  const collection = namespaced ? `${base}/namespaces/{namespace}/${name.resource}` : `${base}/${name.resource}`;
  const inPath = namespaced ? [parameter("namespace")] : [];
  const item = { get: operation("get", false), put: operation("put", true), patch: operation("patch", true), delete: operation("delete", false), parameters: [...inPath, parameter("name")] };
  const paths: Record<string, unknown> = {
    [collection]: { get: operation("list", false), post: operation("post", true), delete: operation("deletecollection", false), ...(inPath.length > 0 && { parameters: inPath }) },
    [`${collection}/{name}`]: item,
  };
  if (namespaced) paths[`${base}/${name.resource}`] = { get: operation("list", false) };
  if (kind.subresources.status) paths[`${collection}/{name}/status`] = { get: item.get, put: item.put, patch: item.patch, parameters: item.parameters };
  return paths as JsonObject;
}

const WRITE_PARAMETERS = ["dryRun", "fieldManager", "fieldValidation"].map((name) => ({ in: "query", name, schema: { type: "string", uniqueItems: true } }));

const META_COMPONENT = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/** `io.k8s.api.apps.v1.Deployment`; kinds of other groups are named by their domain, turned round. */
function componentName({ kind }: Resource, version: string): string {
  if (kind.builtIn) return `io.k8s.api.${kind.group.split(".")[0] || "core"}.${version}.${kind.kind}`;
  return `${kind.group.split(".").toReversed().join(".")}.${version}.${kind.kind}`;
}

/**
 * The schemas of a document. A type that occurs twice, or contains itself, becomes a component of its own, named after where it
 * was met first. Types are told apart by their table of properties, which fields of the same type share.
 */
class Components {
  readonly schemas: JsonObject = {};
  readonly #names = new Map<Record<string, Schema>, string>();
  /** Kubernetes' own kinds have no open fields in their documents, only objects of which nothing is said. */
  readonly #isBuiltIn: boolean;

  constructor(isBuiltIn: boolean) {
    this.#isBuiltIn = isBuiltIn;
  }

  addKind({ resource, version, schema }: ServedVersion): void {
    const name = componentName(resource, version);
    const metadata = this.#isBuiltIn ? (schema.properties?.metadata ?? OBJECT_META) : OBJECT_META;
    this.schemas[META_COMPONENT] ??= this.#expand(metadata, META_COMPONENT, new Map());
    const uses = new Map<Record<string, Schema>, number>();
    countUses(schema, uses);
    const properties: JsonObject = {};
    for (const [field, property] of Object.entries(schema.properties ?? {})) {
      if (field !== "metadata") properties[field] = this.#convert(property, `${name}.${field}`, uses);
    }
    properties.metadata = { allOf: [{ $ref: `#/components/schemas/${META_COMPONENT}` }] };
    this.schemas[name] = {
      ...this.#scalars(schema),
      properties,
      "x-kubernetes-group-version-kind": [{ group: resource.kind.group, kind: resource.kind.kind, version }],
    };
  }

  #convert(schema: Schema, path: string, uses: ReadonlyMap<Record<string, Schema>, number>): JsonObject {
    const { properties } = schema;
    if (!properties || (uses.get(properties) ?? 0) < 2) return this.#expand(schema, path, uses);
    let name = this.#names.get(properties);
    if (name === undefined) {
      this.#names.set(properties, (name = path));
      const { default: _, ...type } = schema;
      this.schemas[name] = this.#expand(type, path, uses);
    }
    const reference = { $ref: `#/components/schemas/${name}` };
    const extras = Object.fromEntries(Object.entries(this.#scalars(schema)).filter(([key]) => key === "default" || key === "description" || key.startsWith("x-kubernetes-")));
    return Object.keys(extras).length === 0 ? reference : { allOf: [reference], ...extras };
  }

  #expand(schema: Schema, path: string, uses: ReadonlyMap<Record<string, Schema>, number>): JsonObject {
    const { properties, items, additionalProperties } = schema;
    return {
      ...this.#scalars(schema),
      ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([field, property]) => [field, this.#convert(property, `${path}.${field}`, uses)])) }),
      ...(items && { items: this.#convert(items, `${path}.items`, uses) }),
      ...(additionalProperties !== undefined && {
        additionalProperties: typeof additionalProperties === "object" ? this.#convert(additionalProperties, `${path}.values`, uses) : additionalProperties,
      }),
    };
  }

  /** Everything but the parts that hold other schemas. Rules on values are for the server to check. */
  #scalars(schema: Schema): JsonObject {
    const { properties: _p, items: _i, additionalProperties: _a, allOf: _all, anyOf: _any, oneOf: _one, not: _n, "x-kubernetes-int-or-string": intOrString, "x-kubernetes-preserve-unknown-fields": open, required, ...rest } = schema;
    return {
      ...(rest as JsonObject),
      ...(required && required.length > 0 && { required }),
      // A schema that says nothing at all is left out by kubectl's templates, which then fail.
      ...(open && (!this.#isBuiltIn || Object.keys(rest).length === 0) && { "x-kubernetes-preserve-unknown-fields": true }),
      ...(intOrString && { oneOf: [{ type: "integer" }, { type: "string" }], format: "int-or-string" }),
    };
  }
}

/** How often each table of properties is reached; one that contains itself counts twice. */
function countUses(schema: Schema, uses: Map<Record<string, Schema>, number>): void {
  const { properties, items, additionalProperties } = schema;
  if (properties) {
    const count = (uses.get(properties) ?? 0) + 1;
    uses.set(properties, count);
    if (count > 1) return;
    for (const property of Object.values(properties)) countUses(property, uses);
  }
  if (items) countUses(items, uses);
  if (typeof additionalProperties === "object") countUses(additionalProperties, uses);
}

const V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/** A valid document that defines nothing: kinds that are absent from it are not validated by clients. */
export function openApiV2Response(_table: ResourceTable, { gitVersion }: VersionInfo, headers: ApiRequest["headers"]): ApiResponse {
  const info = { title: "Kubernetes", version: gitVersion };
  if (/proto-openapi\.spec\.v2/.test(headers.accept ?? "")) {
    return { status: 200, headers: { "content-type": V2_PROTOBUF, "cache-control": "no-cache, private" }, body: protobufDocument(info) };
  }
  return { status: 200, headers: { "content-type": "application/json", "cache-control": "no-cache, private" }, body: encode(JSON.stringify({ swagger: "2.0", info, paths: {}, definitions: {} })) };
}

/** The same in the protobuf form of gnostic: swagger is field 1, info 2 (title 1, version 2), paths 8. */
function protobufDocument({ title, version }: { title: string; version: string }): Uint8Array {
  const field = (number: number, content: Uint8Array): Uint8Array => Buffer.concat([Uint8Array.of((number << 3) | 2, content.byteLength), content]);
  const info = Buffer.concat([field(1, encode(title)), field(2, encode(version))]);
  return Buffer.concat([field(1, encode("2.0")), field(2, info), field(8, new Uint8Array())]);
}
