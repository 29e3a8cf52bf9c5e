import { expect, test } from "vitest";
import { createSimulatedClusters } from "./simulated-clusters.ts";
import type { SimulatedClusters } from "./simulated-clusters.ts";

interface Setup {
  clusters: SimulatedClusters;
  profiles: Map<string, "hub" | "member" | "member-bare" | "empty">;
  forgotten: string[];
  end(cluster: string): void;
}

function setUp(): Setup {
  const profiles: Setup["profiles"] = new Map();
  const forgotten: string[] = [];
  let notify = (_cluster: string, _id: string): void => {};
  const server = {
    profileOf: (cluster: string) => profiles.get(cluster),
    isManagedElsewhere: () => false,
    serves: () => false,
    onClusterGone(run: (cluster: string, id: string) => void) {
      notify = run;
      return () => {};
    },
  };
  const clusters = createSimulatedClusters(server);
  clusters.onForgotten((cluster) => forgotten.push(cluster));
  return {
    clusters,
    profiles,
    forgotten,
    end(cluster) {
      profiles.delete(cluster);
      notify(cluster, cluster);
    },
  };
}

test.each([
  ["member", true],
  ["member-bare", true],
  ["empty", false],
  ["hub", false],
] as const)("whether a cluster of the profile %s is simulated: %s", (profile, want) => {
  const { clusters, profiles } = setUp();
  profiles.set("paris", profile);

  expect([clusters.isSimulated("paris"), clusters.isMember("paris")]).toEqual([want, want]);
});

test("a deleted cluster stays known as simulated while its deletion is propagated, but is not a member", () => {
  const { clusters, profiles, end } = setUp();
  profiles.set("paris", "member");
  clusters.isSimulated("paris");

  end("paris");

  expect([clusters.isSimulated("paris"), clusters.isMember("paris")]).toEqual([true, false]);
});

test("clusters deleted long ago are forgotten, oldest first", () => {
  const { clusters, profiles, forgotten, end } = setUp();
  for (let index = 0; index < 1025; index++) {
    profiles.set(`c${index}`, "member");
    clusters.isSimulated(`c${index}`);
    end(`c${index}`);
  }

  expect(forgotten).toEqual(["c0"]);
  expect([clusters.isSimulated("c0"), clusters.isSimulated("c1")]).toEqual([false, true]);
});
