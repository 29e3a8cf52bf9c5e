/** Paths that try to reach what they do not name: other clusters, other namespaces, other keys. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Api } from "../contract/apiserver/raw-client.ts";
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

/** All with a token that is good in paris alone. */
const tricks: Record<string, string> = {
  "the other cluster by its own path": `/clusters/oslo/${SECRET}`,
  "the hub at the root": `/${SECRET}`,
  "up and down again": `/clusters/paris/../oslo/${SECRET}`,
  "up with an escape": `/clusters/paris/%2e%2e/oslo/${SECRET}`,
  "up with an escaped slash": `/clusters/paris%2f..%2foslo/${SECRET}`,
  "an escaped slash in front of the other cluster": `/clusters/paris/%2fclusters/oslo/${SECRET}`,
  "a cluster inside of a cluster": `/clusters/paris/clusters/oslo/${SECRET}`,
  "an empty cluster": `/clusters//${SECRET}`,
  "two slashes at the beginning": `//clusters/oslo/${SECRET}`,
  "capital letters": `/Clusters/oslo/${SECRET}`,
  "a backslash": `/clusters/paris\\..\\oslo/${SECRET}`,
  "a NUL behind the name": `/clusters/oslo%00/${SECRET}`,
  "a name twice escaped": `/clusters/%256fslo/${SECRET}`,
  "a letter escaped": `/clusters/%6fslo/${SECRET}`,
  "an overlong escape": `/clusters/paris/%c0%ae%c0%ae/oslo/${SECRET}`,
  "a fragment": `/clusters/paris#/../oslo/${SECRET}`,
  "a parameter behind the name": `/clusters/oslo;a=b/${SECRET}`,
  "a namespace that leads out of the cluster":
    "/clusters/paris/api/v1/namespaces/..%2f..%2foslo%2fdefault/secrets/treasure",
  "a name that leads out of the cluster":
    "/clusters/paris/api/v1/namespaces/default/secrets/..%2f..%2foslo%2fdefault%2ftreasure",
  "a resource that leads out of the cluster": "/clusters/paris/api/v1/..%2f..%2fsecrets%2foslo%2fdefault%2ftreasure",
  "dots as a namespace": "/clusters/paris/api/v1/namespaces/../../oslo/secrets/treasure",
  "a whole address": `https://other.example/clusters/oslo/${SECRET}`,
};

/** A path that does not begin with a slash is an error of the protocol there. */
const REFUSED_BY_HTTP2 = { status: 400, text: "" };

for (const [what, path] of Object.entries(tricks)) {
  test(`${what} does not open another cluster`, async () => {
    const overHttp2 = path.startsWith("/") ? await paris.get(path) : REFUSED_BY_HTTP2;
    // Sent as it stands: clients tidy paths up before they send them.
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

test("a list of one cluster holds nothing of another, however it is asked for", async () => {
  const lists = [
    "/clusters/paris/api/v1/secrets",
    "/clusters/paris/api/v1/secrets?fieldSelector=metadata.namespace%3D..%2Foslo",
    "/clusters/paris/api/v1/namespaces/oslo/secrets",
    "/clusters/paris/api/v1/watch/secrets?timeoutSeconds=1&resourceVersion=0",
  ];

  for (const path of lists) expect((await paris.get(path)).text, path).not.toContain("treasure");
});

test("a token of a page is worth nothing in another cluster, or when it is made up", async () => {
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

test("what is made in one cluster names neither another cluster nor another namespace", async () => {
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
