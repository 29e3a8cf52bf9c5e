/** Paths that try to escape their scope: other clusters, other namespaces, other keys. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Api } from "../programs/raw-client.ts";
import { openFrontDoor, parseAnswer, restOf, TOKENS, type FrontDoor } from "./front-door.ts";

let door: FrontDoor;
let paris: Api;
beforeAll(async () => {
  door = await openFrontDoor();
  const admin = door.api({ token: TOKENS.admin });
  await admin.create("/clusters/oslo/api/v1/namespaces/default/secrets", {
    metadata: { name: "treasure" },
    stringData: { key: "gold" },
  });
  await admin.create("/api/v1/namespaces/default/secrets", {
    metadata: { name: "treasure" },
    stringData: { key: "gold" },
  });
  paris = door.api({ token: TOKENS.paris });
});
afterEach(() => {
  expect(door.failures).toEqual([]);
});
afterAll(() => door.close());

const SECRET = "api/v1/namespaces/default/secrets/treasure";

/** All with a token that is valid only in paris. */
const tricks: Record<string, string> = {
  "the other cluster by its own path": `/clusters/oslo/${SECRET}`,
  "the hub at the root": `/${SECRET}`,
  "a parent directory and down again": `/clusters/paris/../oslo/${SECRET}`,
  "an escaped parent directory": `/clusters/paris/%2e%2e/oslo/${SECRET}`,
  "a parent directory with an escaped slash": `/clusters/paris%2f..%2foslo/${SECRET}`,
  "an escaped slash before the other cluster": `/clusters/paris/%2fclusters/oslo/${SECRET}`,
  "a cluster inside a cluster": `/clusters/paris/clusters/oslo/${SECRET}`,
  "an empty cluster": `/clusters//${SECRET}`,
  "two leading slashes": `//clusters/oslo/${SECRET}`,
  "capital letters": `/Clusters/oslo/${SECRET}`,
  "a backslash": `/clusters/paris\\..\\oslo/${SECRET}`,
  "a NUL after the name": `/clusters/oslo%00/${SECRET}`,
  "a double-escaped name": `/clusters/%256fslo/${SECRET}`,
  "an escaped letter": `/clusters/%6fslo/${SECRET}`,
  "an overlong escape": `/clusters/paris/%c0%ae%c0%ae/oslo/${SECRET}`,
  "a fragment": `/clusters/paris#/../oslo/${SECRET}`,
  "a path parameter after the name": `/clusters/oslo;a=b/${SECRET}`,
  "a namespace that escapes the cluster": "/clusters/paris/api/v1/namespaces/..%2f..%2foslo%2fdefault/secrets/treasure",
  "a name that escapes the cluster":
    "/clusters/paris/api/v1/namespaces/default/secrets/..%2f..%2foslo%2fdefault%2ftreasure",
  "a resource that escapes the cluster": "/clusters/paris/api/v1/..%2f..%2fsecrets%2foslo%2fdefault%2ftreasure",
  "dots as a namespace": "/clusters/paris/api/v1/namespaces/../../oslo/secrets/treasure",
  "an absolute URL": `https://other.example/clusters/oslo/${SECRET}`,
};

/** A path without a leading slash is a protocol error there. */
const REFUSED_BY_HTTP2 = { status: 400, text: "" };

for (const [what, path] of Object.entries(tricks)) {
  test(`${what} does not reach another cluster`, async () => {
    const overHttp2 = path.startsWith("/") ? await paris.get(path) : REFUSED_BY_HTTP2;
    // Sent verbatim: clients normalize paths before they send them.
    const socket = await door.socket();
    const raw = restOf(socket);
    socket.write(
      `GET ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${TOKENS.paris}\r\nconnection: close\r\n\r\n`,
    );
    const overHttp1 = await raw;

    expect(overHttp2.status).toBeOneOf([400, 401, 403, 404]);
    expect(overHttp2.text).not.toContain("Z29sZA");
    expect(parseAnswer(overHttp1).status).toBeOneOf([400, 401, 403, 404]);
    expect(overHttp1).not.toContain("Z29sZA");
  });
}

test("a list of one cluster contains nothing of another, whatever the query", async () => {
  const lists = [
    "/clusters/paris/api/v1/secrets",
    "/clusters/paris/api/v1/secrets?fieldSelector=metadata.namespace%3D..%2Foslo",
    "/clusters/paris/api/v1/namespaces/oslo/secrets",
    "/clusters/paris/api/v1/watch/secrets?timeoutSeconds=1&resourceVersion=0",
  ];

  for (const path of lists) expect((await paris.get(path)).text, path).not.toContain("treasure");
});

test("a continue token is invalid in another cluster, or if it is forged", async () => {
  const admin = door.api({ token: TOKENS.admin });
  for (const name of ["a", "b", "c"])
    await admin.create("/clusters/oslo/api/v1/namespaces/default/configmaps", { metadata: { name } });
  const page = await admin.get("/clusters/oslo/api/v1/namespaces/default/configmaps?limit=1");
  const token = page.body.metadata.continue ?? "";
  const made = Buffer.from(
    JSON.stringify({ v: "meta.k8s.io/v1", rv: -1, start: "../../oslo/default/a", n: 0 }),
  ).toString("base64url");

  const answers = await Promise.all(
    [token, made].map((text) =>
      paris.get(`/clusters/paris/api/v1/namespaces/default/configmaps?limit=5&continue=${text}`),
    ),
  );

  for (const { text } of answers) expect(text).not.toMatch(/"name":"[abc]"/);
});

test("objects created in one cluster cannot name another cluster or namespace", async () => {
  const other = await paris.create("/clusters/paris/api/v1/namespaces/default/configmaps", {
    metadata: { name: "x", namespace: "kube-system" },
  });
  const odd = await paris.create("/clusters/paris/api/v1/namespaces/default/configmaps", {
    metadata: { name: "../../oslo/default/x" },
  });
  const generated = await paris.create("/clusters/paris/api/v1/namespaces/default/configmaps", {
    metadata: { generateName: "../" },
  });

  expect(other.body).toMatchObject({ kind: "Status", code: 400 });
  expect(odd.body).toMatchObject({ kind: "Status", code: 422 });
  expect(generated.body).toMatchObject({ kind: "Status", code: 422 });
});
