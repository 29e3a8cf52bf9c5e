import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "@flotilla/base";
import { createClusterAccess } from "./cluster-access.ts";
import type { ClusterAccess } from "./cluster-access.ts";

interface Started {
  access: ClusterAccess;
  /** The clusters whose tokens are stored in files. */
  kept(): Promise<string[]>;
  /** Deletes the cluster, or replaces it with another of its name. */
  end(cluster: string, successor?: string): void;
  leaveFile(name: string): Promise<void>;
}

/** Access to clusters by id, without a server. */
async function start(ids: Record<string, string>): Promise<Started> {
  const pki = await mkdtemp(join(tmpdir(), "cluster-access-"));
  onTestFinished(() => rm(pki, { recursive: true }));
  const clusters = new Map(Object.entries(ids));
  const listeners: ((name: string, id: string) => void)[] = [];
  const access = createClusterAccess({
    pki,
    authority: { certificate: "ca", issueClusterClient: () => ({ certificate: "certificate", key: "key" }) },
    log: silentLog,
    endpointOf: (cluster) => `https://localhost/clusters/${cluster}`,
    server: {
      tokens: {
        add() {},
        authenticate: () => Promise.resolve({ error: undefined }),
        homeOf: () => Promise.resolve(undefined),
      },
      clusters: () => [...clusters.keys()],
      clusterId: (cluster) => clusters.get(cluster) ?? "",
      onClusterGone(listener) {
        listeners.push(listener);
        return () => {};
      },
    },
  });
  return {
    access,
    kept: () => readdir(join(pki, "clusters")),
    end(cluster, successor) {
      const id = clusters.get(cluster) ?? "";
      if (successor === undefined) clusters.delete(cluster);
      else clusters.set(cluster, successor);
      for (const report of listeners) report(cluster, id);
    },
    leaveFile: (name) => writeFile(join(pki, "clusters", name), "token"),
  };
}

test("deleting a cluster deletes its token", async () => {
  const { access, kept, end } = await start({ paris: "paris.7", oslo: "oslo.8" });
  await access.kubeconfig("paris");
  await access.kubeconfig("oslo");

  end("paris");
  await access.close();

  expect(await kept()).toEqual(["oslo.8.token"]);
});

test("a recreated cluster keeps its own token", async () => {
  const { access, kept, end } = await start({ paris: "paris.7" });
  const before = await access.kubeconfig("paris");

  end("paris", "paris.9");
  const after = await access.kubeconfig("paris");
  await access.close();

  expect(after).not.toBe(before);
  expect(await kept()).toEqual(["paris.9.token"]);
});

test("tokens of clusters that were deleted unnoticed are pruned, the others stay", async () => {
  const { access, kept, leaveFile } = await start({ paris: "paris.7" });
  await access.kubeconfig("paris");
  await leaveFile("paris.3.token");
  await leaveFile("rome.5.token");

  await access.prune();

  expect(await kept()).toEqual(["paris.7.token"]);
});

test("pruning before the first token does nothing", async () => {
  const { access } = await start({});

  await expect(access.prune()).resolves.toBeUndefined();
});
