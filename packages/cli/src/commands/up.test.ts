import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import type { CommandContext } from "../command.ts";
import type { FleetOptions } from "../fleet-starter.ts";
import { createOutput } from "../output.ts";
import { parseCommandLine } from "../parse.ts";
import { plain } from "../paint.ts";
import { renderReady, upCommand } from "./up.ts";

/** The options that the fleet is started with for this command line. */
async function optionsOf(...argv: string[]): Promise<FleetOptions> {
  const asked: FleetOptions[] = [];
  const { args, flags } = parseCommandLine(upCommand, argv);
  const context = {
    args,
    flags,
    output: createOutput({ format: "table", write: () => {}, warn: () => {}, showProgress: () => {} }),
    signal: AbortSignal.abort(),
    environment: { FLOTILLA_HOME: "fleet" },
    startFleet: (options: FleetOptions) => {
      asked.push(options);
      return Promise.resolve({
        url: "https://hub",
        kubeconfigs: new Map(),
        members: [],
        data: "fleet",
        logFile: "fleet/flotilla.log",
        stop: () => Promise.resolve(),
        failed: new Promise<Error>(() => {}),
      });
    },
  };
  await upCommand.run(context as unknown as CommandContext<typeof upCommand.flags>);
  const [options] = asked;
  if (!options) throw new Error("no fleet was started");
  return options;
}

test("without flags eviction uses Karmada's defaults: one workload per two seconds, ten minutes for a replacement, only where a policy asks", async () => {
  expect((await optionsOf()).failover).toEqual({
    evictionsPerSecond: 0.5,
    evictionTimeoutMs: 600_000,
    allowNoExecuteTaintPolicy: false,
  });
});

test("the failover flags have Karmada's names", async () => {
  const { failover } = await optionsOf(
    "--resource-eviction-rate",
    "2.5",
    "--graceful-eviction-timeout",
    "60",
    "--enable-no-execute-taint-eviction",
    "--no-execute-taint-eviction-purge-mode",
    "Directly",
    "--allow-no-execute-taint-policy",
  );

  expect(failover).toEqual({
    evictionsPerSecond: 2.5,
    evictionTimeoutMs: 60_000,
    unasked: { purgeMode: "Directly" },
    allowNoExecuteTaintPolicy: true,
  });
});

test("the first output starts with ready, and lists the next commands and the locations", () => {
  const kubeconfigs = new Map([["hub", "/data/fleet/hub.kubeconfig"]]);
  const fleet = {
    url: "https://127.0.0.1:6443",
    members: ["member1", "member2"],
    kubeconfigs,
    data: "/data/fleet",
    logFile: "/data/fleet/flotilla.log",
  };

  const text = renderReady(fleet, { ephemeral: false, asked: 2, isDefaultData: false, ui: undefined, paint: plain });

  expect(text.split("\n")).toEqual([
    "ready  https://127.0.0.1:6443  hub and 2 members (member1, member2)",
    "",
    "Next, in another terminal:",
    "  export KUBECONFIG=/data/fleet/hub.kubeconfig",
    "  kubectl get clusters",
    "  flotilla status --data /data/fleet",
    "",
    "members   have kubeconfigs beside it: member1.kubeconfig, …",
    "data      /data/fleet; the next start resumes from there",
    "log       /data/fleet/flotilla.log",
    "",
    "Ctrl-C stops.",
  ]);
});

test("an ephemeral fleet is reported as such", () => {
  const fleet = {
    url: "https://127.0.0.1:6443",
    members: [],
    kubeconfigs: new Map<string, string>(),
    data: "/data/fleet",
    logFile: "/data/fleet/flotilla.log",
  };

  expect(
    renderReady(fleet, { ephemeral: true, asked: undefined, isDefaultData: true, ui: undefined, paint: plain }),
  ).toContain("data      in memory: objects are lost after a stop; keys and kubeconfigs are in /data/fleet");
});

const counts: Record<string, { asked: number | undefined; printsNote: boolean }> = {
  "--members below the existing number reports that the members stay": { asked: 1, printsNote: true },
  "--members equal to the existing number prints no note": { asked: 2, printsNote: false },
  "without --members no note is printed": { asked: undefined, printsNote: false },
};
for (const [behaviour, { asked, printsNote }] of Object.entries(counts)) {
  test(behaviour, () => {
    const fleet = {
      url: "https://127.0.0.1:6443",
      members: ["member1", "member2"],
      kubeconfigs: new Map<string, string>(),
      data: "/data/fleet",
      logFile: "/data/fleet/flotilla.log",
    };

    const text = renderReady(fleet, { ephemeral: false, asked, isDefaultData: true, ui: undefined, paint: plain });

    expect(
      text.includes(
        "members   are from an earlier start: --members 1 removes none; for fewer, use another --data folder",
      ),
    ).toBe(printsNote);
  });
}

test("an ephemeral fleet has a temporary folder, which is removed at the end, and leaves the default one as it is", async () => {
  const { data } = await optionsOf("--ephemeral");

  expect(data).not.toBe("fleet");
  expect(dirname(data)).toBe(tmpdir());
  expect(existsSync(data)).toBe(false);
});

test("an ephemeral fleet uses the folder that --data names", async () => {
  expect((await optionsOf("--ephemeral", "--data", "own")).data).toBe("own");
});

test("three members are started by default", async () => {
  expect((await optionsOf()).members).toBe(3);
});
