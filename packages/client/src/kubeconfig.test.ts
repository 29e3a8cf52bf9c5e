import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { loadKubeconfig, loadKubeconfigs, parseKubeconfig, renderKubeconfig } from "./kubeconfig.ts";
import type { Kubeconfig } from "./kubeconfig.ts";
import { connectionOf as connectionIn } from "./kubeconfig-connection.ts";
import type { KubeconfigConnection, ConnectionEnvironment } from "./kubeconfig-connection.ts";

/** Ignores this machine's own environment. */
const connectionOf = (
  config: Kubeconfig,
  context?: string,
  environment: ConnectionEnvironment = {},
): Promise<KubeconfigConnection> =>
  connectionIn(config, context, { environment: {}, isTerminal: false, ...environment });
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
    exec: {command: aws, apiVersion: client.authentication.k8s.io/v1beta1}
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

const withUser = (fields: string): string =>
  "current-context: a\n" +
  "clusters: [{name: a, cluster: {server: 'https://a'}}]\n" +
  `users: [{name: u, user: {${fields}}}]\ncontexts: [{name: a, context: {cluster: a, user: u}}]`;

describe("kubeconfig", () => {
  test("a context resolves to the server, CA and credentials, inline or from files beside it", async () => {
    await writeFile(join(directory, "config"), yaml);
    await writeFile(join(directory, "alice.crt"), "CERT");

    const connection = await connectionOf(await loadKubeconfig(join(directory, "config")));

    expect(connection).toMatchObject({
      server: new URL("https://paris.example:6443/base"),
      ca: "CA",
      cert: "CERT",
      key: "KEY",
      serverName: "kubernetes",
      namespace: "shop",
    });
    expect(await connection.credentials?.current()).toEqual({ cert: "CERT", key: "KEY" });
  });

  test("a token file is read when the token is needed", async () => {
    await writeFile(join(directory, "token"), "secret\n");

    const { token } = await connectionOf(parseKubeconfig(yaml, { directory }), "robot");

    expect(typeof token === "function" && (await token())).toBe("secret");
  });

  test("a token file that changed is read again after at most a minute", async () => {
    await writeFile(join(directory, "token"), "first");
    const clock = createFakeClock();
    const { credentials } = await connectionOf(parseKubeconfig(yaml, { directory }), "robot", { clock });
    const before = await credentials?.current();

    await writeFile(join(directory, "token"), "second\n");
    const cached = await credentials?.current();
    clock.advance(60_000);

    expect([before, cached, await credentials?.current()]).toEqual([
      { token: "first" },
      { token: "first" },
      { token: "second" },
    ]);
  });

  test("a user may impersonate another user", async () => {
    const text = withUser(
      "token: t, as: eve, as-uid: '7', as-groups: [admins, 'a, b'], as-user-extra: {scopes: [read, write]}",
    );

    const { token, impersonate } = await connectionOf(parseKubeconfig(text));

    expect(token).toBe("t");
    expect(impersonate).toEqual({
      user: "eve",
      uid: "7",
      groups: ["admins", "a, b"],
      extra: { scopes: ["read", "write"] },
    });
  });

  test("the proxy is the cluster's, otherwise the environment's", async () => {
    const own = parseKubeconfig(
      "current-context: a\nclusters: [{name: a, cluster: {server: 'https://a.example', proxy-url: " +
        "'socks5://p:1080'}}]\ncontexts: [{name: a, context: {cluster: a}}]",
    );
    const environment = { HTTPS_PROXY: "http://corporate:3128" };

    const proxies = [
      (await connectionOf(own, undefined, { environment })).proxy,
      (await connectionOf(parseKubeconfig(yaml, { directory }), "robot", { environment })).proxy,
    ];

    expect(proxies.map(String)).toEqual(["socks5://p:1080", "http://corporate:3128/"]);
  });

  test("a token in the file takes precedence over a plugin", async () => {
    const text = withUser(
      "token: t, exec: {command: does-not-exist, apiVersion: client.authentication.k8s.io/v1beta1}",
    );

    expect(await connectionOf(parseKubeconfig(text))).toEqual({ server: new URL("https://a"), token: "t" });
  });

  for (const field of [
    "client-certificate: /etc/a, client-key: /etc/b",
    "tokenFile: /etc/passwd",
    "exec: {command: sh, apiVersion: client.authentication.k8s.io/v1beta1}",
  ]) {
    test(`a foreign kubeconfig may not use ${field.split(":")[0]}`, async () => {
      await expect(connectionOf(parseKubeconfig(withUser(field)), undefined, { isForeign: true })).rejects.toThrow(
        /which refers to the machine it was created on; embed the data/,
      );
    });
  }

  test("a context may have no user", async () => {
    expect(await connectionOf(parseKubeconfig(yaml), "anonymous")).toEqual({
      server: new URL("http://127.0.0.1:8001"),
      insecure: true,
    });
  });

  const refused: Record<string, { context?: string; text?: string; message: RegExp }> = {
    "the error for an unknown context lists the existing ones": {
      context: "oslo",
      message: /no context oslo; it has paris, robot, anonymous, plugin, lost/,
    },
    "a context that refers to a missing cluster is rejected": {
      context: "lost",
      message: /refers to cluster "atlantis", which does not exist/,
    },
    "the error for a missing file names it": {
      context: "paris",
      message: /alice\.crt in client-certificate, which cannot be read/,
    },
    "a proxy with an unknown scheme is rejected": {
      text:
        "current-context: a\nclusters: [{name: a, cluster: {server: 'https://a', proxy-url: " +
        "'ftp://me:secret@p'}}]\ncontexts: [{name: a, context: {cluster: a}}]",
      message:
        /^proxy-url of cluster a in the kubeconfig is not a proxy URL; it must be an http:\/\/, https:\/\/ or socks5:\/\/ URL$/,
    },
    "impersonation groups without a user are rejected": {
      text: withUser("as-groups: [admins]"),
      message: /without a user; set as/,
    },
    "plugin arguments with a null character are rejected, and not quoted": {
      text: withUser(
        `exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Never, args: ["hunter2\\0"]}`,
      ),
      message: /^args of exec of user u of the kubeconfig must be a list of strings without null characters$/,
    },
    "as-groups that is not a list is rejected": {
      text: withUser("as: eve, as-groups: admins"),
      message: /as-groups of user u of the kubeconfig must be a list of strings/,
    },
    "an auth provider is rejected, with its replacement": {
      text: withUser("auth-provider: {name: gcp}"),
      message: /uses auth-provider, which Flotilla does not support; use the credential plugin/,
    },
    "a plugin without a command is rejected": {
      text: withUser("exec: {apiVersion: client.authentication.k8s.io/v1}"),
      message: /has no command/,
    },
    "a plugin of an unknown API version is rejected": {
      text: withUser("exec: {command: a, apiVersion: client.authentication.k8s.io/v1alpha1}"),
      message: /has the apiVersion "client.authentication.k8s.io\/v1alpha1"; it must be/,
    },
    "a v1 plugin must set interactiveMode": {
      text: withUser("exec: {command: a, apiVersion: client.authentication.k8s.io/v1}"),
      message: /has no interactiveMode; it must be Never, IfAvailable or Always/,
    },
    "an environment variable without a name is rejected": {
      text: withUser("exec: {command: a, apiVersion: client.authentication.k8s.io/v1beta1, env: [{value: x}]}"),
      message: /an entry of env of exec of user u of the kubeconfig has no name/,
    },
    "a password is rejected": {
      text:
        "current-context: a\n" +
        "clusters: [{name: a, cluster: {server: 'https://a'}}]\n" +
        "users: [{name: u, user: {username: u, password: p}}]\n" +
        "contexts: [{name: a, context: {cluster: a, user: u}}]",
      message: /uses username, which Flotilla does not support; servers no longer accept passwords/,
    },
    "a key without its certificate is rejected": {
      text:
        "current-context: a\n" +
        "clusters: [{name: a, cluster: {server: 'https://a'}}]\n" +
        `users: [{name: u, user: {client-key-data: ${base64("KEY")}}}]\ncontexts: [{name: a, context: {cluster: ` +
        "a, user: u}}]",
      message: /needs both a client certificate and its key/,
    },
    "a server URL without a scheme is rejected": {
      text: "current-context: a\nclusters: [{name: a, cluster: {server: 'a.example'}}]\ncontexts: [{name: a, context: {cluster: a}}]",
      message: /must be an https:\/\/ or http:\/\/ URL/,
    },
    "the error for a file without a current context asks for one": {
      text: "contexts: [{name: a}, {name: b}]",
      message: /has no current context; choose one of a, b with 'kubectl config use-context NAME/,
    },
    "the error for a file without contexts explains how to create one": {
      text: "clusters: []",
      message:
        /has no contexts, so the cluster is not known; name another file, or create it again: 'kubectl config view --minify --flatten'/,
    },
  };
  for (const [behaviour, { context, text = yaml, message }] of Object.entries(refused)) {
    test(behaviour, async () => {
      await expect(connectionOf(parseKubeconfig(text, { directory: "/nowhere" }), context)).rejects.toThrow(message);
    });
  }

  test("invalid YAML is rejected without quoting it, since it holds keys", () => {
    const parse = (): unknown => parseKubeconfig("users: [{name: u, user: {token: 'hunter2}}]", { source: "f.yaml" });

    expect(parse).toThrow(/f\.yaml is not valid YAML/);
    expect(parse).not.toThrow(/hunter2/);
  });

  test("YAML aliases that expand beyond memory are not written out", () => {
    const levels = Array.from({ length: 40 }, (_, level) => `- &a${level + 1} [*a${level}, *a${level}]`);

    expect(() => parseKubeconfig(`x:\n- &a0 [lol]\n${levels.join("\n")}\nkind: *a40`, { source: "f.yaml" })).toThrow(
      "f.yaml is not a kubeconfig: its kind is not a string; it must be Config",
    );
  });

  test("keys such as __proto__ stay data", async () => {
    const config = parseKubeconfig(
      "current-context: __proto__\nclusters: [{name: __proto__, cluster: {server: 'https://a'}}]\ncontexts: [{name: __proto__, context: {cluster: __proto__}}]",
    );

    expect((await connectionOf(config)).server.host).toBe("a");
    expect(({} as Record<string, unknown>)["server"]).toBeUndefined();
  });

  test("a rendered kubeconfig parses to the same values", async () => {
    const connection = {
      server: "https://127.0.0.1:6443/clusters/member1",
      ca: "CA",
      cert: "CERT",
      key: "KEY",
      token: "t",
      namespace: "shop",
    };

    const text = renderKubeconfig({ name: "member1", ...connection });

    expect(await connectionOf(parseKubeconfig(text))).toEqual({ ...connection, server: new URL(connection.server) });
  });

  test("is written as YAML, without the fields that it does not have", () => {
    const text = renderKubeconfig({ name: "hub", server: "https://localhost:8443", token: "12345" });

    expect(text).toBe(`apiVersion: v1
clusters:
- cluster:
    server: https://localhost:8443
  name: hub
contexts:
- context:
    cluster: hub
    user: hub
  name: hub
current-context: hub
kind: Config
preferences: {}
users:
- name: hub
  user:
    token: "12345"
`);
  });
});

describe("several kubeconfigs", () => {
  const file = async (path: string, text: string): Promise<string> => {
    const full = join(directory, path);
    await mkdir(join(full, ".."), { recursive: true });
    await writeFile(full, text);
    return full;
  };
  const config = (name: string, more = ""): string =>
    `{contexts: [{name: ${name}, context: {cluster: ${name}, user: ${name}}}], clusters: [{name: ${name}, ` +
    `cluster: {server: "https://${name}"}}], users: [{name: ${name}, user: {tokenFile: token}}]${more}}`;

  test("are one: the first current context and the first definition of a name win", async () => {
    const first = await file("one/config", config("karmada"));
    const second = await file("two/config", config("ocm", ", current-context: ocm"));
    const third = await file(
      "three/config",
      config("karmada", ", current-context: karmada").replace("//karmada", "//other"),
    );

    const merged = await loadKubeconfigs([first, second, third]);

    expect([...merged.contexts.keys()].toSorted()).toEqual(["karmada", "ocm"]);
    expect(merged.currentContext).toBe("ocm");
    expect(merged.clusters.get("karmada")).toEqual({ server: "https://karmada" });
  });

  test("resolve files relative to the kubeconfig that names them", async () => {
    const [first, second] = [await file("a/config", config("a")), await file("b/config", config("b"))];
    await file("b/token", "secret-b");

    const { token } = await connectionOf(await loadKubeconfigs([first, second]), "b");

    expect(typeof token === "function" ? await token() : token).toBe("secret-b");
  });

  test("several kubeconfigs that do not exist are skipped, unless none does", async () => {
    const there = await file("there/config", config("there"));

    expect([...(await loadKubeconfigs([join(directory, "gone"), there])).contexts.keys()]).toEqual(["there"]);
    await expect(loadKubeconfigs([join(directory, "gone"), join(directory, "lost")])).rejects.toThrow(
      "none of the kubeconfigs",
    );
  });
});
