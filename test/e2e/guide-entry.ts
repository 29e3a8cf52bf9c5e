/** What the test of the original guides knows about one code block. */
import { expect } from "vitest";
import type { GuideCluster, GuideFleet } from "./guide-fleet.ts";

export interface GuideEntry {
  /** Guards against a changed block: its effect has to be reconsidered. */
  hash: string;
  /** Why the block is not run. */
  notRun?: string;
  /** The manifest is saved under this name, and a later block applies it. */
  file?: string;
  /** Commands that are left out, by their start, with the reason. */
  without?: Readonly<Record<string, string>>;
  /** The cluster whose terminal the block is typed in; by default the reader's own. */
  on?: GuideCluster;
  /** The same for single commands, by their start. */
  lineOn?: Readonly<Record<string, GuideCluster>>;
  /** What the text around the block asks for in words. */
  given?(fleet: GuideFleet): Promise<void>;
  /** Found in the output. */
  prints?: readonly RegExp[];
  /** The state of hub and members that follows. */
  effect?(fleet: GuideFleet): Promise<void>;
}

/** By the name of the block, in the order of the text. */
export type GuideTable = Readonly<Record<string, GuideEntry>>;

export const INSTALLS = (what: string): string => `installs ${what}; \`flotilla up\` is the hub and its members`;

/** An object whose status has a condition. */
export const condition = (type: string, status: "True" | "False"): object => ({
  status: { conditions: expect.arrayContaining([expect.objectContaining({ type, status })]) as unknown },
});

export const ready = (readyReplicas: number): object => ({ status: { readyReplicas } });
