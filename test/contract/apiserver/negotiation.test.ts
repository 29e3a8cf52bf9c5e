/** Content negotiation: JSON, YAML, protobuf, tables and partial metadata. */
import { expect, test } from "vitest";
import { defineResource } from "./custom-resource.ts";
import { pods } from "./objects.ts";
import { protobufConfigMap, protobufDeployment } from "./protobuf.ts";
import { NAMESPACE, contract } from "../../programs/api-servers.ts";

const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const PROTOBUF = "application/vnd.kubernetes.protobuf";

interface Table {
  kind: string;
  metadata: { resourceVersion: string; continue?: string };
  columnDefinitions: { name: string; priority: number; type: string; format: string }[];
  rows: { cells: unknown[]; object: { kind: string; metadata: { name: string }; data?: object } | null }[];
}

contract("negotiation", (subject) => {
  const table = async (path: string, accept = TABLE): Promise<Table> =>
    (await subject.api.get(path, { accept })).body as unknown as Table;

  const accepts: Record<string, string> = {
    "*/*": "application/json",
    "application/json": "application/json",
    "application/yaml": "application/yaml",
    "application/vnd.example, application/yaml": "application/yaml",
    "application/json;as=Table;v=v99;g=meta.k8s.io, application/json": "application/json",
    "application/cbor, application/json": "application/json",
  };
  for (const [accept, contentType] of Object.entries(accepts)) {
    test(`Accept "${accept}" is answered as ${contentType}`, async () => {
      const { status, headers } = await subject.api.get("/api/v1/namespaces/default", { accept });

      expect([status, headers["content-type"]]).toEqual([200, contentType]);
    });
  }

  test("an unsupported Accept header is rejected with 406 and the list of supported types", async () => {
    const type = await subject.api.get("/api/v1/namespaces/default", { accept: "text/html" });
    const form = await subject.api.get("/api/v1/namespaces/default", {
      accept: "application/json;as=Picture;v=v1;g=meta.k8s.io",
    });

    expect([type.status, type.text]).toEqual([406, expect.stringContaining("application/json, application/yaml")]);
    expect([form.status, form.body.reason]).toEqual([406, "NotAcceptable"]);
  });

  test("YAML is accepted and returned", async () => {
    const created = await subject.api.request("POST", CONFIG_MAPS, {
      headers: { "content-type": "application/yaml", accept: "application/yaml" },
      body: "metadata:\n  name: in-yaml\ndata:\n  answer: 'yes'\n",
    });

    expect(created.status).toBe(201);
    expect(created.text).toMatch(/^apiVersion: v1\n/);
    expect(created.text).toContain('data:\n  answer: "yes"\n');
  });

  test("a protobuf body is decoded, and unset fields are not stored", async () => {
    const { status, body } = await subject.api.request("POST", CONFIG_MAPS, {
      headers: { "content-type": PROTOBUF },
      body: protobufConfigMap("from-protobuf", { colour: "blue" }),
    });

    expect(status).toBe(201);
    expect(body).toMatchObject({ kind: "ConfigMap", metadata: { name: "from-protobuf" }, data: { colour: "blue" } });
    expect(body).not.toHaveProperty("immutable");
  });

  test("an explicit zero of an optional number is kept, and unset numbers are defaulted", async () => {
    const { status, body } = await subject.api.request("POST", DEPLOYMENTS, {
      headers: { "content-type": PROTOBUF },
      body: protobufDeployment("zero", 0),
    });

    expect([status, body.message]).toEqual([201, undefined]);
    expect(body.spec).toMatchObject({
      replicas: 0,
      revisionHistoryLimit: 10,
      template: { spec: { restartPolicy: "Always" } },
    });
    expect(body.spec).not.toHaveProperty("minReadySeconds");
  });

  test("an invalid protobuf body is rejected with 400", async () => {
    const { status, body } = await subject.api.request("POST", CONFIG_MAPS, {
      headers: { "content-type": PROTOBUF },
      body: Buffer.from("k8s\0\xff\xff\xff", "latin1"),
    });

    expect([status, body.reason]).toEqual([400, "BadRequest"]);
  });

  test("JSON is returned to clients that prefer protobuf but accept JSON", async () => {
    const { status, headers } = await subject.api.get("/apis/apps/v1", {
      accept: `${PROTOBUF};q=0.1,application/json`,
    });

    expect(status).toBe(200);
    expect(headers["content-type"]).toMatch(/application\/(json|vnd\.kubernetes\.protobuf)/);
  });

  test("custom resources are JSON or YAML, not CBOR", async () => {
    const path = await defineResource(subject.api, "Parcel", { namespace: NAMESPACE });

    const yaml = await subject.api.request("POST", path, {
      headers: { "content-type": "application/yaml" },
      body: "apiVersion: parcel.example.com/v1\nkind: Parcel\nmetadata:\n  name: in-yaml\n",
    });
    const cbor = await subject.api.request("POST", path, {
      headers: { "content-type": "application/cbor" },
      body: Buffer.from([0xd9, 0xd9, 0xf7, 0xa0]),
    });

    expect(yaml.status).toBe(201);
    expect([cbor.status, cbor.body.reason]).toEqual([415, "UnsupportedMediaType"]);
  });

  test("unknown content types of bodies and patches are rejected with 415", async () => {
    await subject.api.create(CONFIG_MAPS, { metadata: { name: "patched" } });

    const body = await subject.api.request("POST", CONFIG_MAPS, {
      headers: { "content-type": "text/plain" },
      body: "{}",
    });
    const patch = await subject.api.request("PATCH", `${CONFIG_MAPS}/patched`, {
      headers: { "content-type": "application/json" },
      body: "{}",
    });

    expect([body.status, body.body.reason]).toEqual([415, "UnsupportedMediaType"]);
    expect(patch.status).toBe(415);
  });

  test("a list as a Table has columns, rows with the objects' metadata, and the list's resourceVersion", async () => {
    await subject.api.create(CONFIG_MAPS, { metadata: { name: "tabled" }, data: { a: "1", b: "2" } });

    const { kind, columnDefinitions, rows, metadata } = await table(
      `${CONFIG_MAPS}?fieldSelector=metadata.name=tabled`,
    );

    expect(kind).toBe("Table");
    expect(Number(metadata.resourceVersion)).toBeGreaterThan(0);
    expect(
      columnDefinitions.map(({ name, type, format, priority }) => `${name} ${type} ${format} ${priority}`),
    ).toEqual(["Name string name 0", "Data string  0", "Age string  0"]);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.cells).toEqual(["tabled", 2, expect.stringMatching(/^\d+s$/)]);
    expect(rows[0]?.object).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "tabled" } });
  });

  test("includeObject selects whether rows contain the object, its metadata or nothing", async () => {
    await subject.api.create(CONFIG_MAPS, { metadata: { name: "included" }, data: { a: "1" } });
    const path = `${CONFIG_MAPS}/included`;

    expect((await table(`${path}?includeObject=Object`)).rows[0]?.object).toMatchObject({ data: { a: "1" } });
    expect((await table(`${path}?includeObject=Metadata`)).rows[0]?.object).not.toHaveProperty("data");
    expect((await table(`${path}?includeObject=None`)).rows[0]?.object).toBeNull();
    expect((await subject.api.get(`${path}?includeObject=Everything`, { accept: TABLE })).status).toBe(400);
  });

  test("in a watch each event is a Table of one row, and only the first has column definitions", async () => {
    const watch = await subject.api.watch(`${CONFIG_MAPS}?watch=1&labelSelector=watched=table`, { accept: TABLE });
    await subject.api.create(CONFIG_MAPS, { metadata: { name: "row-a", labels: { watched: "table" } } });
    await subject.api.create(CONFIG_MAPS, { metadata: { name: "row-b", labels: { watched: "table" } } });

    const [first, second] = (await watch.take(2)).map(({ object }) => object as unknown as Table);

    watch.close();
    expect(first?.columnDefinitions).toHaveLength(3);
    expect(first?.rows[0]?.cells[0]).toBe("row-a");
    expect(second?.columnDefinitions ?? []).toHaveLength(0);
    expect(second?.rows[0]?.cells[0]).toBe("row-b");
  });

  const columns: Record<string, [path: string, names: string]> = {
    Namespace: ["/api/v1/namespaces", "Name Status Age"],
    Pod: [pods(NAMESPACE), "Name Ready Status Restarts Age IP Node Nominated-Node Readiness-Gates"],
    Deployment: [DEPLOYMENTS, "Name Ready Up-to-date Available Age Containers Images Selector"],
    ReplicaSet: [`/apis/apps/v1/replicasets`, "Name Desired Current Ready Age Containers Images Selector"],
    StatefulSet: [`/apis/apps/v1/statefulsets`, "Name Ready Age Containers Images"],
    DaemonSet: [
      `/apis/apps/v1/daemonsets`,
      "Name Desired Current Ready Up-to-date Available Node-Selector Age Containers Images Selector",
    ],
    Job: ["/apis/batch/v1/jobs", "Name Status Completions Duration Age Containers Images Selector"],
    CronJob: [
      "/apis/batch/v1/cronjobs",
      "Name Schedule Timezone Suspend Active Last-Schedule Age Containers Images Selector",
    ],
    Service: ["/api/v1/services", "Name Type Cluster-IP External-IP Port(s) Age Selector"],
    Ingress: ["/apis/networking.k8s.io/v1/ingresses", "Name Class Hosts Address Ports Age"],
    Node: [
      "/api/v1/nodes",
      "Name Status Roles Age Version Internal-IP External-IP OS-Image Kernel-Version Container-Runtime",
    ],
    Secret: ["/api/v1/secrets", "Name Type Data Age"],
    ServiceAccount: ["/api/v1/serviceaccounts", "Name Age"],
    Event: ["/api/v1/events", "Last-Seen Type Reason Object Subobject Source Message First-Seen Count Name"],
    PersistentVolume: [
      "/api/v1/persistentvolumes",
      "Name Capacity Access-Modes Reclaim-Policy Status Claim StorageClass VolumeAttributesClass Reason Age VolumeMode",
    ],
    PersistentVolumeClaim: [
      "/api/v1/persistentvolumeclaims",
      "Name Status Volume Capacity Access-Modes StorageClass VolumeAttributesClass Age VolumeMode",
    ],
    Lease: ["/apis/coordination.k8s.io/v1/leases", "Name Holder Age"],
    Role: ["/apis/rbac.authorization.k8s.io/v1/roles", "Name Created-At"],
    RoleBinding: ["/apis/rbac.authorization.k8s.io/v1/rolebindings", "Name Role Age Users Groups ServiceAccounts"],
    CustomResourceDefinition: ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "Name Created-At"],
    HorizontalPodAutoscaler: [
      "/apis/autoscaling/v2/horizontalpodautoscalers",
      "Name Reference Targets MinPods MaxPods Replicas Age",
    ],
    PodDisruptionBudget: [
      "/apis/policy/v1/poddisruptionbudgets",
      "Name Min-Available Max-Unavailable Allowed-Disruptions Age",
    ],
    NetworkPolicy: ["/apis/networking.k8s.io/v1/networkpolicies", "Name Pod-Selector Age"],
    StorageClass: [
      "/apis/storage.k8s.io/v1/storageclasses",
      "Name Provisioner ReclaimPolicy VolumeBindingMode AllowVolumeExpansion Age",
    ],
    PriorityClass: ["/apis/scheduling.k8s.io/v1/priorityclasses", "Name Value Global-Default Age PreemptionPolicy"],
    EndpointSlice: ["/apis/discovery.k8s.io/v1/endpointslices", "Name AddressType Ports Endpoints Age"],
  };
  for (const [kind, [path, names]] of Object.entries(columns)) {
    test(`the columns of a ${kind} are those of Kubernetes`, async () => {
      const { columnDefinitions } = await table(path);

      expect(columnDefinitions.map(({ name }) => name.replaceAll(" ", "-")).join(" ")).toBe(names);
    });
  }

  test("PartialObjectMetadata is returned for one object, for lists and in watches", async () => {
    await subject.api.create(CONFIG_MAPS, {
      metadata: { name: "partial", labels: { only: "metadata" } },
      data: { a: "1" },
    });
    const query = "labelSelector=only=metadata";

    const one = await subject.api.get(`${CONFIG_MAPS}/partial`, {
      accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    });
    const list = await subject.api.get(`${CONFIG_MAPS}?${query}`, {
      accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    });
    const watch = await subject.api.watch(`${CONFIG_MAPS}?watch=1&${query}`, {
      accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    });
    const { object } = await watch.next();

    watch.close();
    expect(one.body).toMatchObject({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: { name: "partial" },
    });
    expect(one.body).not.toHaveProperty("data");
    expect(list.body).toMatchObject({ kind: "PartialObjectMetadataList", items: [{ metadata: { name: "partial" } }] });
    expect(object).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "partial" } });
  });

  test("a review has no Table", async () => {
    const { status } = await subject.api.create(
      "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      { spec: { nonResourceAttributes: { path: "/", verb: "get" } } },
      { accept: TABLE },
    );

    expect(status).toBe(406);
  });
});
