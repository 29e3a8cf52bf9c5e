/** An acknowledged write survives `kill -9`, and work in flight is finished after a restart. */
import { expect, test } from "vitest";
import { Deployment, Namespace } from "@flotilla/kubernetes";
import { PropagationPolicy } from "@flotilla/karmada";
import { sleep, systemClock } from "@flotilla/base";
import { connectionOf, createClient, createHttp2Transport, loadKubeconfig } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";

/** Enough that the pipeline is busy when the process is killed. */
const ACKNOWLEDGED_BEFORE_THE_KILL = 60;
const WRITERS = 8;
const LIMIT_MS = 60_000;

async function clientOf({ kubeconfig }: Up): Promise<{ client: Client; close(): Promise<void> }> {
  const transport = createHttp2Transport({
    ...(await connectionOf(await loadKubeconfig(kubeconfig("hub")))),
    cluster: { root: "hub" },
  });
  return { client: createClient({ transport, fieldManager: "test" }), close: () => transport.close() };
}

test(
  "every acknowledged object exists after kill -9, and the pipeline finishes pending work",
  { timeout: 2 * LIMIT_MS },
  async () => {
    const directory = temporaryDirectory();
    try {
      const first = await up(directory.path, "--members", "2", "--nodes", "2");
      const before = await clientOf(first);
      await before.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
      await before.client.create(
        PropagationPolicy,
        "hub",
        makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 1, member2: 1 }).build(),
      );
      const acknowledged: string[] = [];
      let next = 0;
      const writer = async (): Promise<void> => {
        for (;;) {
          const name = `web-${next++}`;
          try {
            await before.client.create(Deployment, "hub", makeDeployment(`shop/${name}`).replicas(2).build());
            acknowledged.push(name);
          } catch {
            return; // The server was killed: whether this write happened is unknown, and it is not counted.
          }
          if (acknowledged.length === ACKNOWLEDGED_BEFORE_THE_KILL) void first.stop("SIGKILL");
        }
      };
      await Promise.all(Array.from({ length: WRITERS }, writer));
      await before.close();
      await first.stop("SIGKILL");

      const second = await up(directory.path, "--members", "2", "--nodes", "2");
      const after = await clientOf(second);
      try {
        const stored = (await after.client.list(Deployment, { cluster: "hub", namespace: "shop" })).items.map(
          ({ metadata }) => metadata.name,
        );
        expect(stored).toEqual(expect.arrayContaining(acknowledged));
        expect(acknowledged.length).toBeGreaterThanOrEqual(ACKNOWLEDGED_BEFORE_THE_KILL);

        const deadline = performance.now() + LIMIT_MS;
        let unfinished: string[];
        do {
          const { items } = await after.client.list(Deployment, { cluster: "hub", namespace: "shop" });
          unfinished = items.filter(({ status }) => status?.readyReplicas !== 2).map(({ metadata }) => metadata.name);
          await sleep(systemClock, 100);
        } while (unfinished.length > 0 && performance.now() < deadline);
        expect(unfinished).toEqual([]);
      } finally {
        await after.close();
        expect((await second.stop("SIGTERM")).code).toBe(0);
      }
    } finally {
      directory.remove();
    }
  },
);
