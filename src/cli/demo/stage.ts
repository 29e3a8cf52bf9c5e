/** What a step of the story can do and see, and what a step is. */
import type { Json } from "../../base/index.ts";
import type { Deed } from "./deeds.ts";
import type { FleetView } from "./fleet-view.ts";

export interface Stage {
  members: readonly string[];
  view: FleetView;
  /** Does it, and shows the line and what was printed. */
  perform(deed: Deed): Promise<void>;
  /**
   * Runs one of our own commands as it would be typed, shows the line and what was printed, and answers its result as
   * data.
   */
  flotilla(...line: string[]): Promise<Json>;
  say(text: string): void;
}

/** Whether what a step promises is there, in words for either case. */
export interface Verdict {
  seen: boolean;
  text: string;
}

export interface Step {
  title: string;
  /** How long it may take to become true. */
  limitMs: number;
  act?(stage: Stage): Promise<void>;
  observe(stage: Stage): Promise<Verdict>;
  /** What is worth a look once it was seen. */
  show?(stage: Stage): Promise<void>;
}
