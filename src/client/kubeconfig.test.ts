import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectionOf, loadKubeconfig, parseKubeconfig, renderKubeconfig } from "./kubeconfig.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "flotilla-kubeconfig-"));
});
afterAll(() => rm(directory, { recursive: true }));

const yaml = `
apiVersion: v1
kind: Config
current-context: paris
clusters:
- name: paris-cluster
  cluster:
    server: https://paris.example:6443/base
    certificate-authority-data: ${base64("CA")}
    tls-server-name: kubernetes
- name: open
  cluster:
    server: http://127.0.0.1:8001
    insecure-skip-tls-verify: true
users:
- name: alice
  user:
    client-certificate: alice.crt
    client-key-data: ${base64("KEY")}
- name: robot
  user:
    token: ignored-since-the-file-wins
    tokenFile: token
- name: plugin
  user:
    exec: {command: aws}
contexts:
- name: paris
  context: {cluster: paris-cluster, user: alice, namespace: shop}
- name: robot
  context: {cluster: paris-cluster, user: robot}
- name: anonymous
  context: {cluster: open, user: ""}
- name: plugin
  context: {cluster: open, user: plugin}
- name: lost
  context: {cluster: atlantis, user: alice}
`;

describe("kubeconfig", () => {
  test("a context gives the server, whom to trust and who we are, inline or from files beside it", async () => {
    await writeFile(join(directory, "config"), yaml);
    await writeFile(join(directory, "alice.crt"), "CERT");

    const connection = await connectionOf(await loadKubeconfig(join(directory, "config")));

    expect(connection).toEqual({ server: new URL("https://paris.example:6443/base"), ca: "CA", cert: "CERT", key: "KEY", serverName: "kubernetes", namespace: "shop" });
  });

  test("a token file is read when the token is needed", async () => {
    await writeFile(join(directory, "token"), "secret\n");

    const { token } = await connectionOf(parseKubeconfig(yaml, { directory }), "robot");

    expect(typeof token === "function" && (await token())).toBe("secret");
  });

  test("a context may go without a user", async () => {
    expect(await connectionOf(parseKubeconfig(yaml), "anonymous")).toEqual({ server: new URL("http://127.0.0.1:8001"), insecure: true });
  });

  const refused: Record<string, { context?: string; text?: string; message: RegExp }> = {
    "an exec plugin is refused, since without it we would be somebody else": { context: "plugin", message: /user plugin .* uses exec, which Flotilla does not support yet/ },
    "an unknown context is answered with those that exist": { context: "oslo", message: /no context oslo; it has paris, robot, anonymous, plugin, lost/ },
    "a context that refers to nothing says so": { context: "lost", message: /refers to cluster "atlantis", which is not there/ },
    "a missing file is named": { context: "paris", message: /alice\.crt as client-certificate, which cannot be read/ },
    "a proxy is refused": {
      text: "current-context: a\nclusters: [{name: a, cluster: {server: 'https://a', proxy-url: 'http://p'}}]\ncontexts: [{name: a, context: {cluster: a}}]",
      message: /uses proxy-url/,
    },
    "a password is refused": {
      text: "current-context: a\nclusters: [{name: a, cluster: {server: 'https://a'}}]\nusers: [{name: u, user: {username: u, password: p}}]\ncontexts: [{name: a, context: {cluster: a, user: u}}]",
      message: /uses username/,
    },
    "a key without its certificate is refused": {
      text: `current-context: a\nclusters: [{name: a, cluster: {server: 'https://a'}}]\nusers: [{name: u, user: {client-key-data: ${base64("KEY")}}}]\ncontexts: [{name: a, context: {cluster: a, user: u}}]`,
      message: /needs both a client certificate and its key/,
    },
    "an address without a scheme is refused": {
      text: "current-context: a\nclusters: [{name: a, cluster: {server: 'a.example'}}]\ncontexts: [{name: a, context: {cluster: a}}]",
      message: /must be an https:\/\/ or http:\/\/ URL/,
    },
    "a file without a current context asks for one": { text: "clusters: []", message: /names no current context; choose one of none/ },
  };
  for (const [behaviour, { context, text = yaml, message }] of Object.entries(refused)) {
    test(behaviour, async () => {
      await expect(connectionOf(parseKubeconfig(text, { directory: "/nowhere" }), context)).rejects.toThrow(message);
    });
  }

  test("broken YAML is refused without quoting it, since it holds keys", () => {
    const parse = (): unknown => parseKubeconfig("users: [{name: u, user: {token: 'hunter2}}]", { source: "f.yaml" });

    expect(parse).toThrow(/f\.yaml is not valid YAML/);
    expect(parse).not.toThrow(/hunter2/);
  });

  test("keys such as __proto__ stay data", async () => {
    const config = parseKubeconfig("current-context: __proto__\nclusters: [{name: __proto__, cluster: {server: 'https://a'}}]\ncontexts: [{name: __proto__, context: {cluster: __proto__}}]");

    expect((await connectionOf(config)).server.host).toBe("a");
    expect(({} as Record<string, unknown>)["server"]).toBeUndefined();
  });

  test("what is rendered reads back the same", async () => {
    const connection = { server: "https://127.0.0.1:6443/clusters/member1", ca: "CA", cert: "CERT", key: "KEY", token: "t", namespace: "shop" };

    const text = renderKubeconfig({ name: "member1", ...connection });

    expect(await connectionOf(parseKubeconfig(text))).toEqual({ ...connection, server: new URL(connection.server) });
  });
});
