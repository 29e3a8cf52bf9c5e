/** Kubernetes' own `e2e.test` as a suite that can run against a member. */
import { join } from "node:path";
import { listTests, readCatalogue, selectTests, type Test } from "./catalogue.ts";
import { escapePattern } from "./suite.ts";

/** A member that a suite runs against. */
export interface SuiteMember {
  bin: string;
  kubeconfig: string;
  /** For the logs of other programs. */
  logs: string;
}

/** The properties of a suite that `run.ts` needs. */
export interface UpstreamSuite {
  /** Names of the programs in `$REAL_BIN`. */
  programs: readonly string[];
  /** The compiled suite among them. */
  binary: string;
  /** Additional flags for `flotilla up`. */
  upFlags: readonly string[];
  /** The default number of simulated nodes. */
  nodes: number;
  /** The default time limit of a test. */
  limitSeconds: number;
  /** Creates what the tests expect on a new member, and starts other programs; returns what ends them. */
  prepare?(member: SuiteMember): Promise<() => Promise<void>>;
  select(bin: string, focus: RegExp | undefined): Test[];
  flagsOf(test: Test, place: { bin: string; kubeconfig: string; limitMs: number }): readonly string[];
}

export const kubernetesSuite: UpstreamSuite = {
  programs: ["e2e.test", "kubectl"],
  binary: "e2e.test",
  upFlags: [],
  nodes: 0,
  limitSeconds: 150,
  select: (bin, focus) => selectTests(readCatalogue(), listTests(join(bin, "e2e.test")), focus),
  flagsOf: ({ fullName }, { bin, kubeconfig }) => [
    `--kubeconfig=${kubeconfig}`,
    `--kubectl-path=${join(bin, "kubectl")}`,
    `--ginkgo.focus=${escapePattern(fullName)}$`,
    "--provider=skeleton",
    "--allowed-not-ready-nodes=-1",
    "--disable-log-dump",
    "--dump-logs-on-failure=false",
  ],
};
