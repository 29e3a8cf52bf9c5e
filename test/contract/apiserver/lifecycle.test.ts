/**
 * Restart, shutdown and isolation of logical clusters, which need a server the test controls. The real server's history
 * is in etcd, whose compaction clients cannot trigger, so this runs only against Flotilla.
 */
import { expect, test } from "vitest";
import { connectionOf, loadKubeconfig } from "@flotilla/client";
import { temporaryDirectory, up } from "../../programs/flotilla-process.ts";
import type { Up } from "../../programs/flotilla-process.ts";
import { makeConfigMap } from "./objects.ts";
import { connectHttp2 } from "../../programs/raw-client.ts";
import type { Api, Connection } from "../../programs/raw-client.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const LIMIT = { timeout: 60_000 };

async function connectionTo(fleet: Up, cluster: string): Promise<Connection & { token: string }> {
  const { server, ca, token } = await connectionOf(await loadKubeconfig(fleet.kubeconfig(cluster)));
  if (typeof token !== "string") throw new Error(`the kubeconfig of ${cluster} has no token`);
  return { server, ca: String(ca), token };
}

/** Starts a fleet on a directory, calls `use` with the API of its first member, and stops it with a signal. */
async function session<T>(data: string, use: (api: Api, fleet: Up) => Promise<T>, ...args: string[]): Promise<T> {
  const fleet = await up(data, "--members", "1", "--nodes", "0", ...args);
  const api = connectHttp2(await connectionTo(fleet, "member1"));
  try {
    return await use(api, fleet);
  } finally {
    const { code } = await fleet.stop("SIGTERM");
    api.close();
    expect(code).toBe(0);
  }
}

test(
  "after a restart resourceVersions continue, watches and pages resume, and unknown versions return 410",
  LIMIT,
  async () => {
    const directory = temporaryDirectory();
    try {
      const before = await session(directory.path, async (api) => {
        for (const name of ["a", "b", "c"]) await api.create(CONFIG_MAPS, makeConfigMap(name));
        const page = (await api.get(`${CONFIG_MAPS}?limit=2`)).body.metadata;
        const old = (await api.get(`${CONFIG_MAPS}/a`)).body.metadata.resourceVersion;
        await api.create(CONFIG_MAPS, makeConfigMap("d"));
        await api.delete(`${CONFIG_MAPS}/b`);
        return { page, old };
      });

      await session(directory.path, async (api) => {
        const list = (await api.get(CONFIG_MAPS)).body;
        const watch = await api.watch(`${CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion=${before.old}`);
        const events = await watch.rest();
        const exact = await api.get(`${CONFIG_MAPS}?resourceVersion=${before.old}&resourceVersionMatch=Exact`);
        const continued = await api.get(`${CONFIG_MAPS}?limit=9&continue=${before.page.continue}`);
        const tooOld = await api.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=1`);
        const refused = await tooOld.rest();

        expect(namesOf(list.items)).toEqual(["a", "c", "d", "kube-root-ca.crt"]);
        expect(Number(list.metadata.resourceVersion)).toBeGreaterThan(Number(before.page.resourceVersion));
        expect(events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
          "ADDED b",
          "ADDED c",
          "ADDED d",
          "DELETED b",
        ]);
        expect(namesOf(exact.body.items)).toEqual(["a", "kube-root-ca.crt"]);
        expect(namesOf(continued.body.items)).toEqual(["c", "kube-root-ca.crt"]);
        expect(refused).toMatchObject([
          {
            type: "ERROR",
            object: {
              kind: "Status",
              reason: "Expired",
              code: 410,
              message: expect.stringMatching(/^too old resource version: 1 \(\d+\)$/),
            },
          },
        ]);
      });
    } finally {
      directory.remove();
    }
  },
);

const namesOf = (items: readonly { metadata: { name: string } }[]): string[] =>
  items.map(({ metadata }) => metadata.name);

test("a server that is stopped ends its watches and exits with code 0", LIMIT, async () => {
  const directory = temporaryDirectory();
  try {
    const fleet = await up(directory.path, "--members", "1", "--nodes", "0", "--ephemeral");
    const api = connectHttp2(await connectionTo(fleet, "member1"));
    const watch = await api.watch(`${CONFIG_MAPS}?watch=1&labelSelector=there=none`);

    const finished = fleet.stop("SIGTERM");

    expect(await watch.rest()).toEqual([]);
    expect(await finished).toMatchObject({ code: 0 });
    api.close();
  } finally {
    directory.remove();
  }
});

test("clusters of one server do not share objects, kinds, roles or tokens", LIMIT, async () => {
  const directory = temporaryDirectory();
  try {
    const fleet = await up(directory.path, "--members", "2", "--nodes", "0", "--ephemeral");
    const [one, two] = await Promise.all([connectionTo(fleet, "member1"), connectionTo(fleet, "member2")]);
    const [first, second, crossed] = [connectHttp2(one), connectHttp2(two), connectHttp2({ ...two, token: one.token })];
    await first.create(CONFIG_MAPS, makeConfigMap("private"));
    await first.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: "secrets.private.example.com" },
      spec: {
        group: "private.example.com",
        scope: "Cluster",
        names: { plural: "secrets", kind: "Secret" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    });
    const account = await first.create("/api/v1/namespaces/default/serviceaccounts/default/token", { spec: {} });
    const crossedAccount = connectHttp2({ ...two, token: (account.body.status as { token: string }).token });
    const uid = async (api: Api): Promise<string> => (await api.get("/api/v1/namespaces/default")).body.metadata.uid;

    expect((await second.get(`${CONFIG_MAPS}/private`)).status).toBe(404);
    expect((await second.get("/apis/private.example.com/v1/secrets")).status).toBe(404);
    expect((await crossed.get("/version")).status).toBe(401);
    expect((await crossedAccount.get("/version")).status).toBe(401);
    expect(await uid(first)).not.toBe(await uid(second));

    for (const api of [first, second, crossed, crossedAccount]) api.close();
    expect((await fleet.stop("SIGTERM")).code).toBe(0);
  } finally {
    directory.remove();
  }
});
