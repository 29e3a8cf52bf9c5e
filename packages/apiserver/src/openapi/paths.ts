/** The paths of a resource in OpenAPI v3: its methods, their parameters and responses. */
import { defined, omitEmpty } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { connectShapes } from "../resources/connect-shapes.ts";
import { subresourcesOf, verbsOf } from "../discovery/discovery.ts";
import type { Subresource } from "../discovery/discovery.ts";
import { DELETE_OPTIONS, PATCH, STATUS, refTo } from "./type-components.ts";
import type { GroupVersionKind } from "./type-components.ts";
import type { ServedVersion } from "../resources/resources.ts";

/** Components that the operations of a resource refer to. */
export interface PathSchemas {
  object: string;
  list: string;
  /** The component of a subresource that has another kind. */
  ofSubresource(subresource: Subresource): string;
}

type ParameterType = "string" | "integer" | "boolean";

function parameter(name: string, type: ParameterType = "string"): JsonObject {
  return { name, in: "query", schema: { type, uniqueItems: true } };
}
const inPath = (name: string): JsonObject => ({
  name,
  in: "path",
  required: true,
  schema: { type: "string", uniqueItems: true },
});

const NAME = inPath("name");
const NAMESPACE = inPath("namespace");
const PRETTY = parameter("pretty");
const WRITE = [parameter("dryRun"), parameter("fieldManager"), parameter("fieldValidation")];
const PATCH_PARAMETERS = [...WRITE, parameter("force", "boolean")];
const DELETE = [
  parameter("dryRun"),
  parameter("gracePeriodSeconds", "integer"),
  parameter("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"),
  parameter("orphanDependents", "boolean"),
  parameter("propagationPolicy"),
];
const LIST = [
  parameter("allowWatchBookmarks", "boolean"),
  parameter("continue"),
  parameter("fieldSelector"),
  parameter("labelSelector"),
  parameter("limit", "integer"),
  parameter("resourceVersion"),
  parameter("resourceVersionMatch"),
  parameter("sendInitialEvents", "boolean"),
  parameter("timeoutSeconds", "integer"),
  parameter("watch", "boolean"),
];

const STREAMS = [
  parameter("container"),
  parameter("stderr", "boolean"),
  parameter("stdin", "boolean"),
  parameter("stdout", "boolean"),
  parameter("tty", "boolean"),
];
/** The options of connect subresources, by the kind of the options. */
const CONNECT_PARAMETERS: Readonly<Record<string, JsonObject[]>> = {
  PodAttachOptions: STREAMS,
  PodExecOptions: [parameter("command"), ...STREAMS],
  PodPortForwardOptions: [parameter("ports", "integer")],
  Pod: [
    parameter("container"),
    parameter("follow", "boolean"),
    parameter("insecureSkipTLSVerifyBackend", "boolean"),
    parameter("limitBytes", "integer"),
    PRETTY,
    parameter("previous", "boolean"),
    parameter("sinceSeconds", "integer"),
    parameter("stream"),
    parameter("tailLines", "integer"),
    parameter("timestamps", "boolean"),
  ],
};
const PROXY_METHODS = ["get", "put", "post", "delete", "options", "head", "patch"];

/** `RbacAuthorization` of `rbac.authorization.k8s.io`; `core` has no group. */
function groupTitle(group: string): string {
  return (group || "core")
    .replace(/\.k8s\.io$/, "")
    .split(".")
    .map(capitalized)
    .join("");
}
const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** `rbacAuthorization_v1`: the tag by which tools group operations. */
export function tagOf(group: string, version: string): string {
  const title = groupTitle(group);
  return `${title.slice(0, 1).toLowerCase()}${title.slice(1)}_${version}`;
}

export function pathsOf(served: ServedVersion, base: string, schemas: PathSchemas): JsonObject {
  return new ResourcePaths(served, base, schemas).all();
}

class ResourcePaths {
  readonly #served: ServedVersion;
  readonly #collection: string;
  readonly #base: string;
  readonly #schemas: PathSchemas;
  /** Path parameters before the name. */
  readonly #scope: JsonObject[];
  readonly #title: string;
  readonly #tags: string[];
  /** `NamespacedPod` in operation ids. */
  readonly #kind: string;
  readonly #gvk: GroupVersionKind;

  constructor(served: ServedVersion, base: string, schemas: PathSchemas) {
    const { kind, name, namespaced } = served.resource;
    this.#served = served;
    this.#base = base;
    this.#schemas = schemas;
    this.#collection = namespaced ? `${base}/namespaces/{namespace}/${name.resource}` : `${base}/${name.resource}`;
    this.#scope = namespaced ? [NAMESPACE] : [];
    this.#title = `${groupTitle(kind.group)}${capitalized(served.version)}`;
    this.#tags = [tagOf(kind.group, served.version)];
    this.#kind = `${namespaced ? "Namespaced" : ""}${kind.kind}`;
    this.#gvk = { group: kind.group, kind: kind.kind, version: served.version };
  }

  all(): JsonObject {
    const { resource } = this.#served;
    const { kind } = resource.kind;
    const verbs = verbsOf(resource);
    const { object, list } = this.#schemas;
    const has = (verb: string): boolean => verbs.includes(verb);
    const paths: JsonObject = {};
    const put = (path: string, item: JsonObject, parameters: readonly JsonObject[]): void => {
      if (Object.keys(item).length > 0) paths[path] = { ...item, parameters: [...parameters] };
    };
    put(
      this.#collection,
      defined({
        get: has("list")
          ? this.#operation("list", `list${this.#title}${this.#kind}`, {
              answers: [200],
              schema: list,
              parameters: LIST,
            })
          : undefined,
        post: has("create")
          ? this.#operation("post", `create${this.#title}${this.#kind}`, {
              answers: [200, 201, 202],
              schema: object,
              body: object,
              parameters: WRITE,
            })
          : undefined,
        delete: has("deletecollection")
          ? this.#operation("deletecollection", `delete${this.#title}Collection${this.#kind}`, {
              answers: [200],
              schema: STATUS,
              body: DELETE_OPTIONS,
              parameters: [...DELETE, ...LIST],
            })
          : undefined,
      }),
      [...this.#scope, PRETTY],
    );
    put(
      `${this.#collection}/{name}`,
      defined({
        get: has("get") ? this.#get("", object) : undefined,
        put: has("update") ? this.#put("", object) : undefined,
        delete: has("delete")
          ? this.#operation("delete", `delete${this.#title}${this.#kind}`, {
              answers: [200, 202],
              schema: STATUS,
              body: DELETE_OPTIONS,
              parameters: DELETE,
            })
          : undefined,
        patch: has("patch") ? this.#patch("", object) : undefined,
      }),
      [NAME, ...this.#scope, PRETTY],
    );
    if (resource.namespaced && has("list")) {
      put(
        `${this.#base}/${resource.name.resource}`,
        {
          get: this.#operation("list", `list${this.#title}${kind}ForAllNamespaces`, {
            answers: [200],
            schema: list,
            parameters: LIST,
          }),
        },
        [PRETTY],
      );
    }
    const connects = connectShapes(resource);
    for (const subresource of subresourcesOf(resource)) {
      const path = `${this.#collection}/{name}/${subresource.name}`;
      const shape = connects[subresource.name];
      if (!shape) put(path, this.#subresource(subresource), [NAME, ...this.#scope, PRETTY]);
      else {
        put(path, this.#connect(subresource, shape.hasPath, ""), [
          NAME,
          ...this.#scope,
          ...(CONNECT_PARAMETERS[shape.kind] ?? [parameter("path")]),
        ]);
        if (shape.hasPath)
          put(`${path}/{path}`, this.#connect(subresource, true, "WithPath"), [
            NAME,
            ...this.#scope,
            inPath("path"),
            parameter("path"),
          ]);
      }
    }
    return paths;
  }

  #subresource(subresource: Subresource): JsonObject {
    const { name, verbs, kind } = subresource;
    const schema = this.#schemas.ofSubresource(subresource);
    const gvk = kind && {
      group: kind.version ? kind.group : this.#gvk.group,
      kind: kind.kind,
      version: kind.version || this.#gvk.version,
    };
    const title = capitalized(name);
    return defined({
      get: verbs.includes("get") ? this.#get(title, schema, gvk) : undefined,
      put: verbs.includes("update") ? this.#put(title, schema, gvk) : undefined,
      post: verbs.includes("create")
        ? this.#operation("post", `create${this.#title}${this.#kind}${title}`, {
            answers: [200, 201, 202],
            schema,
            body: schema,
            parameters: WRITE,
            gvk,
          })
        : undefined,
      patch: verbs.includes("patch") ? this.#patch(title, schema, gvk) : undefined,
    });
  }

  #connect({ name, kind }: Subresource, isProxy: boolean, suffix: string): JsonObject {
    const title = `${capitalized(name)}${suffix}`;
    const gvk = { group: "", kind: kind?.kind ?? "", version: this.#served.version };
    const answers = { "200": { description: "OK", content: { "*/*": { schema: { type: "string" } } } } };
    const operation = (action: string, operationId: string): JsonObject => ({
      tags: this.#tags,
      operationId,
      responses: answers,
      "x-kubernetes-action": action,
      "x-kubernetes-group-version-kind": gvk,
    });
    if (name === "log") return { get: operation("get", `read${this.#title}${this.#kind}${title}`) };
    return Object.fromEntries(
      (isProxy ? PROXY_METHODS : ["get", "post"]).map((method) => [
        method,
        operation("connect", `connect${this.#title}${capitalized(method)}${this.#kind}${title}`),
      ]),
    );
  }

  #get(suffix: string, schema: string, gvk?: GroupVersionKind): JsonObject {
    const parameters = this.#served.resource.kind.builtIn ? [] : [parameter("resourceVersion")];
    return this.#operation("get", `read${this.#title}${this.#kind}${suffix}`, {
      answers: [200],
      schema,
      parameters,
      gvk,
    });
  }

  #put(suffix: string, schema: string, gvk?: GroupVersionKind): JsonObject {
    return this.#operation("put", `replace${this.#title}${this.#kind}${suffix}`, {
      answers: [200, 201],
      schema,
      body: schema,
      parameters: WRITE,
      gvk,
    });
  }

  #patch(suffix: string, schema: string, gvk?: GroupVersionKind): JsonObject {
    const types = [
      "apply-patch+yaml",
      "json-patch+json",
      "merge-patch+json",
      ...(this.#served.resource.kind.builtIn ? ["strategic-merge-patch+json"] : []),
    ];
    const content = Object.fromEntries(types.map((type) => [`application/${type}`, { schema: refTo(PATCH) }]));
    return {
      ...this.#operation("patch", `patch${this.#title}${this.#kind}${suffix}`, {
        answers: [200, 201],
        schema,
        parameters: PATCH_PARAMETERS,
        gvk,
      }),
      requestBody: { content, required: true },
    };
  }

  #operation(
    action: string,
    operationId: string,
    about: {
      answers: number[];
      schema: string;
      body?: string;
      parameters: JsonObject[];
      gvk?: GroupVersionKind | undefined;
    },
  ): JsonObject {
    const { answers, schema, body, parameters, gvk = this.#gvk } = about;
    const content = { "application/json": { schema: refTo(schema) }, "application/yaml": { schema: refTo(schema) } };
    const description = (code: number): string => (code === 200 ? "OK" : code === 201 ? "Created" : "Accepted");
    return {
      tags: this.#tags,
      operationId,
      ...omitEmpty({
        parameters,
        requestBody:
          body === undefined
            ? undefined
            : {
                content: { "*/*": { schema: refTo(body) } },
                ...defined({ required: body !== DELETE_OPTIONS ? true : undefined }),
              },
      }),
      responses: {
        ...Object.fromEntries(answers.map((code) => [String(code), { description: description(code), content }])),
        "401": { description: "Unauthorized" },
      },
      "x-kubernetes-action": action,
      "x-kubernetes-group-version-kind": gvk,
    };
  }
}
