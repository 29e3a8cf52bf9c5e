/** What a demo step is, and what it can do and observe. */
import type { Json } from "@flotilla/base";
import type { DemoAction } from "./actions.ts";
import type { FleetView } from "./fleet-view.ts";

export interface Stage {
  members: readonly string[];
  view: FleetView;
  /** Performs the action, and shows the command line and its output. */
  perform(action: DemoAction): Promise<void>;
  /** Runs one of our own commands as if typed, shows the line and its output, and returns its result as data. */
  flotilla(...line: string[]): Promise<Json>;
  say(text: string): void;
}

/** Whether the expected effect is observed, with a text for both cases. */
export interface Verdict {
  seen: boolean;
  text: string;
}

export interface Step {
  title: string;
  /** Time limit for the effect. */
  limitMs: number;
  act?(stage: Stage): Promise<void>;
  observe(stage: Stage): Promise<Verdict>;
  /** What to show after the effect was observed. */
  show?(stage: Stage): Promise<void>;
}
