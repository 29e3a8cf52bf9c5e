/** Discovery and OpenAPI. */
import { expect, test } from "vitest";
import { contract, eventually } from "../../programs/api-servers.ts";
import { makeCrd } from "./custom-resource.ts";
import type { Body } from "../../programs/raw-client.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

interface Discovered {
  metadata: { name: string };
  versions: {
    version: string;
    freshness?: string;
    resources: {
      resource: string;
      scope: string;
      verbs: string[];
      responseKind: object;
      singularResource: string;
      shortNames?: string[];
      categories?: string[];
      subresources?: { subresource: string; responseKind: object; verbs: string[] }[];
    }[];
  }[];
}
interface Resource {
  name: string;
  kind: string;
  namespaced: boolean;
  verbs: string[];
  group?: string;
  version?: string;
  storageVersionHash?: string;
}

contract("discovery", (subject) => {
  const resources = async (path: string): Promise<Resource[]> =>
    (await subject.api.get(path)).body["resources"] as Resource[];
  const groups = async (): Promise<Discovered[]> =>
    (await subject.api.get("/apis", { accept: AGGREGATED })).body.items as unknown as Discovered[];

  test("the core group is listed by its versions, the others as groups", async () => {
    const core = await subject.api.get("/api");
    const list = await subject.api.get("/apis");
    const apps = await subject.api.get("/apis/apps");

    expect(core.body).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
    expect(list.body).toMatchObject({ kind: "APIGroupList", apiVersion: "v1" });
    expect((list.body["groups"] as { name: string }[]).map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        "apps",
        "batch",
        "rbac.authorization.k8s.io",
        "apiextensions.k8s.io",
        "coordination.k8s.io",
      ]),
    );
    expect(apps.body).toEqual({
      kind: "APIGroup",
      apiVersion: "v1",
      name: "apps",
      versions: [{ groupVersion: "apps/v1", version: "v1" }],
      preferredVersion: { groupVersion: "apps/v1", version: "v1" },
    });
  });

  test("a version lists its resources and subresources with verbs, names and scope", async () => {
    const answer = await subject.api.get("/apis/apps/v1");

    expect(answer.body).toMatchObject({ kind: "APIResourceList", groupVersion: "apps/v1" });
    expect(answer.body["resources"]).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          name: "deployments",
          singularName: "deployment",
          namespaced: true,
          kind: "Deployment",
          verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
          shortNames: ["deploy"],
          categories: ["all"],
        }),
        expect.objectContaining({
          name: "deployments/status",
          singularName: "",
          namespaced: true,
          kind: "Deployment",
          verbs: ["get", "patch", "update"],
        }),
      ]),
    );
  });

  test("aggregated discovery is returned to clients that accept it, with its content type", async () => {
    for (const path of ["/api", "/apis"]) {
      const { status, headers, body } = await subject.api.get(path, { accept: AGGREGATED });

      expect(status).toBe(200);
      expect(headers["content-type"]).toBe(AGGREGATED);
      expect(headers["vary"]).toContain("Accept");
      expect(body).toMatchObject({ kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2" });
    }
  });

  test("a client that only accepts the older aggregated form gets the plain one", async () => {
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

    const { body } = await subject.api.get("/apis", { accept });

    expect(body.kind).toBe("APIGroupList");
  });

  test("both discovery forms agree about a resource", async () => {
    const apps = (await groups()).find(({ metadata }) => metadata.name === "apps")?.versions[0];
    const plain = await resources("/apis/apps/v1");

    const aggregatedNames = apps?.resources.flatMap(({ resource, subresources = [] }) => [
      resource,
      ...subresources.map((sub) => `${resource}/${sub.subresource}`),
    ]);
    expect(aggregatedNames?.toSorted()).toEqual(plain.map(({ name }) => name).toSorted());
    expect(apps?.resources.find(({ resource }) => resource === "deployments")).toMatchObject({
      scope: "Namespaced",
      singularResource: "deployment",
      shortNames: ["deploy"],
      categories: ["all"],
      responseKind: { group: "", version: "", kind: "Deployment" },
    });
  });

  test("an unchanged aggregated document is answered with 304", async () => {
    const first = await subject.api.get("/apis", { accept: AGGREGATED });
    const etag = first.headers["etag"] ?? "";

    const again = await subject.api.get("/apis", { accept: AGGREGATED, "if-none-match": etag });

    expect(etag).toMatch(/^"[0-9A-F]+"$/);
    expect(again.status).toBe(304);
    expect(again.bytes).toHaveLength(0);
  });

  test("versions are sorted by maturity, and groups of custom resources come after the built-in ones", async () => {
    const version = (name: string, storage: boolean): object => ({
      name,
      served: true,
      storage,
      schema: { openAPIV3Schema: { type: "object" } },
    });
    await subject.api.create(
      CRDS,
      makeCrd("Sorted", {
        versions: [
          version("v1alpha1", false),
          version("v2beta1", false),
          version("v1", true),
          version("v10", false),
          version("foo1", false),
        ],
      }),
    );

    const found = await eventually("the group", groups, (list) =>
      list.some(({ metadata }) => metadata.name === "sorted.example.com"),
    );

    const names = found.map(({ metadata }) => metadata.name);
    expect(
      found.find(({ metadata }) => metadata.name === "sorted.example.com")?.versions.map(({ version }) => version),
    ).toEqual(["v10", "v1", "v2beta1", "v1alpha1", "foo1"]);
    expect(names.indexOf("sorted.example.com")).toBeGreaterThan(names.indexOf("apps"));
    expect((await subject.api.get("/apis/sorted.example.com")).body).toMatchObject({
      preferredVersion: { version: "v10" },
    });
  });

  test("a custom resource is in both discovery forms once it is established, and in neither once its CRD is deleted", async () => {
    const known = async (): Promise<[boolean, number]> => [
      (await groups()).some(({ metadata }) => metadata.name === "fleeting.example.com"),
      (await subject.api.get("/apis/fleeting.example.com/v1")).status,
    ];
    await subject.api.create(
      CRDS,
      makeCrd("Fleeting", {
        shortNames: ["fl"],
        categories: ["all"],
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
      }),
    );

    await eventually("discovery of the kind", known, ([aggregated, plain]) => aggregated && plain === 200);
    const plain = await resources("/apis/fleeting.example.com/v1");
    await subject.api.delete(`${CRDS}/fleetings.fleeting.example.com`);

    expect(plain.map(({ name }) => name)).toEqual(["fleetings", "fleetings/status", "fleetings/scale"]);
    expect(plain[0]).toMatchObject({
      singularName: "fleeting",
      shortNames: ["fl"],
      categories: ["all"],
      kind: "Fleeting",
      namespaced: true,
    });
    expect(plain[0]?.storageVersionHash, "the hash of the storage version").toMatch(/^\S{8,}=$/);
    await eventually("disappearance of the kind", known, ([aggregated, status]) => !aggregated && status === 404);
  });

  test("subresources with another kind name it", async () => {
    const core = await resources("/api/v1");
    const apps = await resources("/apis/apps/v1");
    const of = (list: Resource[], wanted: string): Resource | undefined => list.find(({ name }) => name === wanted);

    expect(of(apps, "deployments/scale")).toMatchObject({
      group: "autoscaling",
      version: "v1",
      kind: "Scale",
      verbs: ["get", "patch", "update"],
    });
    expect(of(core, "pods/eviction")).toMatchObject({
      group: "policy",
      version: "v1",
      kind: "Eviction",
      verbs: ["create"],
    });
    expect(of(core, "serviceaccounts/token")).toMatchObject({
      group: "authentication.k8s.io",
      version: "v1",
      kind: "TokenRequest",
      verbs: ["create"],
    });
  });

  test("stored kinds have a storageVersionHash", async () => {
    const stored = (await resources("/apis/apps/v1")).filter(({ name }) => !name.includes("/"));

    expect(stored.every(({ storageVersionHash }) => /^\S{8,}=$/.test(storageVersionHash ?? ""))).toBe(true);
  });

  test("the version is parseable by clients, and every authenticated user may read it", async () => {
    const { status, body } = await subject.api.as({ "impersonate-user": "eve" }).get("/version");

    expect(status).toBe(200);
    expect(body).toMatchObject({
      major: "1",
      minor: "36",
      gitVersion: expect.stringMatching(/^v1\.36\.\d+/),
      platform: expect.stringMatching(/^\w+\/\w+$/),
    });
  });
});

contract("openapi", (subject) => {
  const v3 = async (groupVersion: string): Promise<Body> => {
    const { paths } = (await subject.api.get("/openapi/v3")).body as unknown as {
      paths: Record<string, { serverRelativeURL: string }>;
    };
    // A server below a path prefix returns links from its own root, as kubectl resolves them against the host.
    const url = paths[groupVersion]?.serverRelativeURL ?? "";
    return (await subject.api.get(url.slice(url.indexOf("/openapi")))).body;
  };

  test("OpenAPI v3 is an index of documents whose links contain their hash", async () => {
    const { body } = await subject.api.get("/openapi/v3");
    const { paths } = body as unknown as { paths: Record<string, { serverRelativeURL: string }> };
    const link = paths["apis/apps/v1"]?.serverRelativeURL ?? "";
    const path = link.slice(link.indexOf("/openapi"));

    const right = await subject.api.get(path);
    const wrong = await subject.api.get(path.replace(/hash=.*/, "hash=0"));

    expect(Object.keys(paths)).toEqual(expect.arrayContaining(["api/v1", "apis/apps/v1", "apis/batch/v1"]));
    expect(path).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]+$/);
    expect(right.body["openapi"]).toBe("3.0.0");
    expect(right.headers["cache-control"]).toBe("public, immutable");
    expect(right.headers["expires"]).toBeDefined();
    expect(wrong.status).toBe(301);
    expect(wrong.headers["location"]).toContain(link.slice(link.indexOf("hash=")));
  });

  test("operations name their action and kind, and support fieldValidation", async () => {
    const { paths } = (await v3("apis/apps/v1")) as unknown as {
      paths: Record<
        string,
        Record<
          string,
          { "x-kubernetes-action": string; "x-kubernetes-group-version-kind": object; parameters?: { name: string }[] }
        >
      >;
    };
    const item = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"];
    const collection = paths["/apis/apps/v1/namespaces/{namespace}/deployments"];

    expect(item?.["patch"]).toMatchObject({
      "x-kubernetes-action": "patch",
      "x-kubernetes-group-version-kind": { group: "apps", kind: "Deployment", version: "v1" },
    });
    for (const operation of [item?.["patch"], item?.["put"], collection?.["post"]])
      expect(operation?.parameters?.map(({ name }) => name)).toEqual(
        expect.arrayContaining(["dryRun", "fieldValidation"]),
      );
  });

  test("OpenAPI v2 is JSON, or protobuf with a content type that Go can parse", async () => {
    const json = await subject.api.get("/openapi/v2");
    const protobuf = await subject.api.get("/openapi/v2", {
      accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    });

    expect(json.body).toMatchObject({
      swagger: "2.0",
      definitions: {
        "io.k8s.api.apps.v1.Deployment": {
          "x-kubernetes-group-version-kind": [{ group: "apps", kind: "Deployment", version: "v1" }],
        },
      },
    });
    expect(protobuf.headers["content-type"]).toBe("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    expect(protobuf.bytes.subarray(0, 5)).toEqual(Buffer.from("\n\x032.0", "latin1"));
  });

  test("schemas specify how lists and patches merge", async () => {
    const { components } = (await v3("api/v1")) as unknown as {
      components: { schemas: Record<string, { description?: string; properties: Record<string, object> }> };
    };
    const spec = components.schemas["io.k8s.api.core.v1.PodSpec"];

    expect(spec?.properties["containers"]).toMatchObject({
      "x-kubernetes-list-map-keys": ["name"],
      "x-kubernetes-list-type": "map",
      "x-kubernetes-patch-merge-key": "name",
      "x-kubernetes-patch-strategy": "merge",
    });
    expect(spec?.properties["nodeSelector"]).toMatchObject({ "x-kubernetes-map-type": "atomic" });
  });

  test("custom resources are published in both OpenAPI versions, and schema updates follow", async () => {
    await subject.api.create(
      CRDS,
      makeCrd("Published", {
        schema: {
          type: "object",
          properties: {
            spec: { type: "object", properties: { colour: { type: "string", description: "Its colour." } } },
          },
        },
      }),
    );
    const schema = async (): Promise<unknown> =>
      JSON.stringify((await v3("apis/published.example.com/v1").catch(() => ({}))) ?? {});

    const first = await eventually("the published schema", schema, (text) => String(text).includes("Its colour."));
    await subject.api.patch("json", `${CRDS}/publisheds.published.example.com`, [
      {
        op: "add",
        path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/shape",
        value: { type: "string", description: "Its shape." },
      },
    ]);

    expect(first).toContain(
      '"x-kubernetes-group-version-kind":[{"group":"published.example.com","kind":"Published","version":"v1"}]',
    );
    await eventually("the changed schema", schema, (text) => String(text).includes("Its shape."));
    await eventually(
      "the schema in version 2",
      async () => (await subject.api.get("/openapi/v2")).text.includes("Its shape."),
      Boolean,
    );
  });
});
