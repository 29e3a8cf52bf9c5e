/**
 * The cost of an empty logical cluster: members with OpenKruise's CRDs, created through the API, and the growth of the
 * process. The heap is measured after a garbage collection, because the resident size also contains garbage and memory
 * that the system has not reclaimed.
 */
import { setTimeout as delay } from "node:timers/promises";
import { connectApi } from "../../test/programs/api-client.ts";
import type { Figure } from "./benchmark.ts";
import { EMITTED, costOf, startFlotilla } from "./process.ts";
import { expect, rate } from "./target.ts";

const CLUSTERS = 1000;
const SETTLE_MS = 3000;
const CLUSTERS_PATH = "/apis/flotilla.dev/v1alpha1/logicalclusters";

export async function clusterFigures(progress: (text: string) => void): Promise<Figure[]> {
  progress(`${CLUSTERS} empty logical clusters`);
  const fleet = await startFlotilla(["--members", "0"], { entry: EMITTED, probe: true });
  const api = await connectApi(fleet.kubeconfig("hub"));
  try {
    const measure = async (): Promise<{ resident: number; heap: number }> => {
      await delay(SETTLE_MS); // Lets controllers process the new clusters.
      const heap = await fleet.heapMiB();
      return { resident: costOf([fleet.pid]).memoryMiB, heap };
    };
    const before = await measure();
    const bodyOf = (index: number): string =>
      JSON.stringify({
        apiVersion: "flotilla.dev/v1alpha1",
        kind: "LogicalCluster",
        metadata: { name: `empty-${index}` },
        spec: { profile: "member" },
      });
    const perSecond = await rate(CLUSTERS, (index) => expect(api, 201, "POST", CLUSTERS_PATH, bodyOf(index)));
    const after = await measure();
    const started = performance.now();
    await rate(CLUSTERS, (index) => expect(api, 200, "GET", `/clusters/empty-${index}/api/v1/namespaces/default`));
    const firstRead = (performance.now() - started) / CLUSTERS;
    const read = await measure();
    const perCluster = (now: number, then: number): number => ((now - then) * 1024) / CLUSTERS;
    return [
      { name: `${CLUSTERS} empty clusters, created`, unit: "per second", better: "more", value: perSecond },
      {
        name: `${CLUSTERS} empty clusters, heap each`,
        unit: "KiB",
        better: "less",
        value: perCluster(after.heap, before.heap),
      },
      {
        name: `${CLUSTERS} empty clusters, resident each`,
        unit: "KiB",
        better: "less",
        value: perCluster(after.resident, before.resident),
      },
      { name: `${CLUSTERS} empty clusters, first read`, unit: "ms", better: "less", value: firstRead },
      {
        name: `${CLUSTERS} clusters read once, heap each`,
        unit: "KiB",
        better: "less",
        value: perCluster(read.heap, before.heap),
      },
    ];
  } finally {
    api.close();
    await fleet.stop();
  }
}
