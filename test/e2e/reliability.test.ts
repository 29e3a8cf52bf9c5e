/** A short form of `npm run reliability`: every kind of process is lost once, under load. Runs if `$REAL_BIN` has etcd. */
import { expect, test } from "vitest";
import { runCampaign } from "../../tools/reliability/campaign.ts";
import { isSound, renderReport } from "../../tools/reliability/report.ts";
import { findPrograms } from "../programs/real-programs.ts";
import { SHIPPED_MAIN } from "../shipped.ts";

const binaries = findPrograms("a history of three API servers with faults", "etcd");

test.runIf(binaries !== undefined)(
  "the history of a hub of several processes with faults is that of one correct store",
  { timeout: 300_000 },
  async () => {
    const result = await runCampaign({
      minutes: 0.4,
      seed: 5,
      binaries: binaries ?? "",
      entry: SHIPPED_MAIN,
      only: [
        "kill -9 of an API server",
        "kill -9 of etcd's leader",
        "kill -9 of controllers",
        "network between an API server and all etcd",
      ],
      keep: false,
      progress: () => {},
    });

    expect(isSound(result), renderReport(result)).toBe(true);
    expect(result.acknowledged).toBeGreaterThan(100);
  },
);
