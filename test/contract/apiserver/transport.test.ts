/** Transport: protocols, paths, limits, headers and errors common to all requests. */
import { createHash } from "node:crypto";
import { connect as connectTls } from "node:tls";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { NAMESPACE, contract } from "../../programs/api-servers.ts";

const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const configMap = (name: string, data: Record<string, string> = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});

contract("transport", (subject) => {
  for (const protocol of ["h2", "http/1.1"] as const) {
    test(`${protocol} works on the single port, for responses and for watches`, async () => {
      const api = subject.connect(undefined, protocol);
      const name = `spoken-${protocol.replace(/\W/g, "-")}`;

      const watch = await api.watch(`${CONFIG_MAPS}?watch=1&fieldSelector=metadata.name=${name}`);
      const created = await api.create(CONFIG_MAPS, configMap(name));

      expect(created.status).toBe(201);
      expect(await watch.next()).toMatchObject({ type: "ADDED", object: { metadata: { name } } });
      watch.close();
    });
  }

  test("ALPN chooses between h2 and http/1.1, and TLS older than 1.2 is rejected", async () => {
    const { server, ca } = subject.connection;
    const negotiated = (options: object): Promise<string> =>
      new Promise((resolve) => {
        const socket = connectTls({ host: server.hostname, port: Number(server.port), ca, ...options });
        socket.once("secureConnect", () => {
          resolve(`${socket.alpnProtocol || "none"} over ${socket.getProtocol()}`);
          socket.destroy();
        });
        socket.once("error", () => resolve("refused"));
      });

    expect(await negotiated({ ALPNProtocols: ["h2", "http/1.1"] })).toBe("h2 over TLSv1.3");
    expect(await negotiated({ ALPNProtocols: ["http/1.1"] })).toBe("http/1.1 over TLSv1.3");
    expect(await negotiated({ ALPNProtocols: ["h2"], maxVersion: "TLSv1.2" })).toBe("h2 over TLSv1.2");
    expect(await negotiated({ minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" })).toBe(
      "refused",
    );
  });

  test("requests are answered on a connection with ninety watches", async () => {
    const api = subject.connect();
    const watches = await Promise.all(
      Array.from({ length: 90 }, () => api.watch(`${CONFIG_MAPS}?watch=1&fieldSelector=metadata.name=shared`)),
    );

    await api.create(CONFIG_MAPS, configMap("shared"));

    const seen = await Promise.all(watches.map((watch) => watch.next()));
    expect(new Set(seen.map(({ type, object }) => `${type} ${object.metadata.name}`))).toEqual(
      new Set(["ADDED shared"]),
    );
    for (const watch of watches) watch.close();
  });

  const forms: Record<string, [path: string, status: number]> = {
    "a cluster-scoped object": ["/api/v1/namespaces/default", 200],
    "a namespaced object of a group": ["/apis/apps/v1/namespaces/default/deployments", 200],
    "a kind in all namespaces": ["/apis/apps/v1/deployments", 200],
    "a percent-encoded name": ["/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Adiscovery", 200],
    "a subresource": ["/api/v1/namespaces/default/status", 200],
    "an object of a namespaced kind without its namespace": ["/api/v1/configmaps/x", 404],
    "an unknown group": ["/apis/nothing.example.com/v1/things", 404],
    "an unknown resource": ["/api/v1/namespaces/default/nothings", 404],
    "a path outside of the API": ["/nothing", 404],
  };
  for (const [form, [path, status]] of Object.entries(forms)) {
    test(`${form} is answered with ${status}`, async () => {
      expect((await subject.api.get(path)).status).toBe(status);
    });
  }

  const refusedVerbs: [method: string, path: string][] = [
    ["PUT", CONFIG_MAPS],
    ["POST", `${CONFIG_MAPS}/x`],
    ["PATCH", CONFIG_MAPS],
    ["POST", "/api/v1/configmaps"],
  ];
  for (const [method, path] of refusedVerbs) {
    test(`${method} ${path} is not allowed`, async () => {
      const { status, body } = await subject.api.request(method, path, { body: configMap("x") });

      expect(status).toBe(405);
      expect(body).toMatchObject({
        reason: "MethodNotAllowed",
        message: "the server does not allow this method on the requested resource",
      });
    });
  }

  test("HEAD is authorized as get, and then not allowed on a resource", async () => {
    const anonymous = subject.api.as({ "impersonate-user": "eve" });

    expect((await subject.api.request("HEAD", CONFIG_MAPS)).status).toBe(405);
    expect((await anonymous.request("HEAD", CONFIG_MAPS)).status).toBe(403);
    expect((await subject.api.request("HEAD", "/healthz")).status).toBe(200);
  });

  test("metadata.name in a list's field selector is authorized as the resource name", async () => {
    const { api } = subject;
    await api.create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/roles`, {
      metadata: { name: "one-map" },
      rules: [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"], verbs: ["list", "watch"] }],
    });
    await api.create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/rolebindings`, {
      metadata: { name: "one-map" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "one-map" },
      subjects: [{ kind: "User", name: "tess", apiGroup: "rbac.authorization.k8s.io" }],
    });
    const tess = api.as({ "impersonate-user": "tess" });

    expect((await tess.get(`${CONFIG_MAPS}?fieldSelector=metadata.name=mine`)).status).toBe(200);
    expect((await tess.get(`${CONFIG_MAPS}?fieldSelector=metadata.name=theirs`)).status).toBe(403);
    expect((await tess.get(CONFIG_MAPS)).status).toBe(403);
    const watch = await tess.watch(`${CONFIG_MAPS}?watch=1&fieldSelector=metadata.name=mine`);
    expect(watch.status).toBe(200);
    watch.close();
  });

  test("a body above three megabytes is rejected with 413", async () => {
    const answer = await subject.api.create(CONFIG_MAPS, configMap("large", { a: "x".repeat(3 * 1024 * 1024) }));

    expect(answer.status).toBe(413);
    expect(answer.body).toMatchObject({ kind: "Status", reason: "RequestEntityTooLarge", code: 413 });
  });

  test("ConfigMap data above one megabyte and annotations above 256 KiB are invalid", async () => {
    const data = await subject.api.create(CONFIG_MAPS, configMap("heavy", { a: "x".repeat(1024 * 1024 + 1) }));
    const annotations = await subject.api.create(CONFIG_MAPS, {
      metadata: { name: "noted", annotations: { "example.com/a": "x".repeat(256 * 1024) } },
    });

    expect(data.status).toBe(422);
    expect(data.body.details?.causes).toEqual([
      { reason: "FieldValueTooLong", message: "Too long: may not be more than 1048576 bytes", field: "[]" },
    ]);
    expect(annotations.status).toBe(422);
    expect(annotations.body.details?.causes).toEqual([
      {
        reason: "FieldValueTooLong",
        message: "Too long: may not be more than 262144 bytes",
        field: "metadata.annotations",
      },
    ]);
  });

  test("a JSON patch of more than 10000 operations is rejected with 413", async () => {
    await subject.api.create(CONFIG_MAPS, configMap("many"));

    const answer = await subject.api.patch(
      "json",
      `${CONFIG_MAPS}/many`,
      Array.from({ length: 10_001 }, () => ({ op: "test", path: "/metadata/name", value: "many" })),
    );

    expect(answer.status).toBe(413);
    expect(answer.body.message).toBe(
      "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    );
  });

  test("a timeout that is not a duration is rejected", async () => {
    expect((await subject.api.get(`${CONFIG_MAPS}?timeout=soon`)).status).toBe(400);
    expect((await subject.api.get(`${CONFIG_MAPS}?timeout=5s`)).status).toBe(200);
  });

  test("responses have a content type, no-cache headers and an audit id", async () => {
    const plain = await subject.api.get("/api/v1/namespaces/default");
    const audited = await subject.api.get("/api/v1/namespaces/default", {
      "audit-id": "11111111-2222-3333-4444-555555555555",
    });

    expect(plain.headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-cache, private" });
    expect(plain.headers["audit-id"]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-/);
    expect(audited.headers["audit-id"]).toBe("11111111-2222-3333-4444-555555555555");
  });

  test("large responses are compressed if the client accepts it, watches never", async () => {
    for (let index = 0; index < 3; index++)
      await subject.api.create(
        CONFIG_MAPS,
        configMap(`bulky-${index}`, { a: createHash("sha512").update(String(index)).digest("hex").repeat(800) }),
      );
    const path = `${CONFIG_MAPS}?fieldSelector=metadata.name!=many`;

    const packed = await subject.api.get(path, { "accept-encoding": "gzip" });
    const small = await subject.api.get("/api/v1/namespaces/default", { "accept-encoding": "gzip" });
    const watch = await subject.api.watch(`${CONFIG_MAPS}?watch=1`, { "accept-encoding": "gzip" });

    expect(packed.headers["content-encoding"]).toBe("gzip");
    expect(JSON.parse(gunzipSync(packed.bytes).toString())).toMatchObject({ kind: "ConfigMapList" });
    expect(small.headers["content-encoding"]).toBeUndefined();
    expect(watch.headers["content-encoding"]).toBeUndefined();
    watch.close();
  });

  test("curl and ?pretty get indented JSON", async () => {
    const path = "/api/v1/namespaces/default";

    expect((await subject.api.get(`${path}?pretty=true`)).text).toMatch(/^\{\n {2}"/);
    expect((await subject.api.get(path, { "user-agent": "curl/8.5.0" })).text).toMatch(/^\{\n {2}"/);
    expect((await subject.api.get(path)).text).toMatch(/^\{"/);
  });

  test("a missing object returns a Status that names it", async () => {
    const { status, body } = await subject.api.get(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments/absent`);

    expect(status).toBe(404);
    expect(body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'deployments.apps "absent" not found',
      reason: "NotFound",
      details: { name: "absent", group: "apps", kind: "deployments" },
      code: 404,
    });
  });

  test("a second create returns AlreadyExists", async () => {
    await subject.api.create(CONFIG_MAPS, configMap("taken"));

    const { status, body } = await subject.api.create(CONFIG_MAPS, configMap("taken"));

    expect(status).toBe(409);
    expect(body).toMatchObject({
      message: 'configmaps "taken" already exists',
      reason: "AlreadyExists",
      details: { name: "taken", kind: "configmaps" },
    });
  });

  test("a stale update, a forbidden and an unknown request return the errors of Kubernetes", async () => {
    const { body: stale } = await subject.api.create(CONFIG_MAPS, configMap("stale"));
    await subject.api.patch("merge", `${CONFIG_MAPS}/stale`, { data: { a: "1" } });
    const anonymous = subject.api.as({ "impersonate-user": "eve" });

    const conflict = await subject.api.replace(`${CONFIG_MAPS}/stale`, stale);
    const forbidden = await anonymous.get(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments/web`);
    const forbiddenEverywhere = await anonymous.get("/api/v1/nodes");
    const outside = await anonymous.get("/metrics");

    expect(conflict.body.message).toBe(
      'Operation cannot be fulfilled on configmaps "stale": the object has been modified; please apply your changes to the latest version and try again',
    );
    expect(forbidden.body.message).toBe(
      `deployments.apps "web" is forbidden: User "eve" cannot get resource "deployments" in API group "apps" in the namespace "${NAMESPACE}"`,
    );
    expect(forbiddenEverywhere.body.message).toBe(
      'nodes is forbidden: User "eve" cannot list resource "nodes" in API group "" at the cluster scope',
    );
    expect(outside.body.message).toBe('forbidden: User "eve" cannot get path "/metrics"');
  });

  test("all field errors are returned together, as causes and in the message", async () => {
    const { status, body } = await subject.api.create(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments`, {
      metadata: { name: "wrong" },
      spec: {
        replicas: -1,
        selector: { matchLabels: { app: "a" } },
        template: { metadata: { labels: { app: "b" } }, spec: { containers: [{ name: "c" }] } },
      },
    });

    expect(status).toBe(422);
    expect(body.reason).toBe("Invalid");
    expect(body.details).toMatchObject({ name: "wrong", group: "apps", kind: "Deployment" });
    expect(body.details?.causes?.map(({ reason, field }) => `${reason} ${field}`).toSorted()).toEqual([
      "FieldValueInvalid spec.replicas",
      "FieldValueInvalid spec.template.metadata.labels",
      "FieldValueRequired spec.template.spec.containers[0].image",
    ]);
    expect(body.message).toMatch(
      /^Deployment\.apps "wrong" is invalid: \[spec\.replicas: Invalid value: -1: must be greater than or equal to 0, .*\]$/,
    );
  });

  test("each warning has its own header", async () => {
    const { status, warnings } = await subject.api.create(
      CONFIG_MAPS,
      '{"metadata":{"name":"warned"},"colour":"blue","shape":"round"}',
    );

    expect(status).toBe(201);
    expect(warnings).toEqual(['unknown field "colour"', 'unknown field "shape"']);
  });
});
