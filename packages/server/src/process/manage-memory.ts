/** When the memory of a process that stays is collected: less often under load, and what a burst left when it is idle. */
import type { Clock, Timer } from "@flotilla/base";
import { leaveBufferGarbage } from "./buffer-garbage.ts";
import { returnMemory } from "./return-memory.ts";
import { growYoungGeneration } from "./young-generation.ts";

export function manageMemory(clock: Clock): Timer {
  growYoungGeneration();
  const timers = [returnMemory(clock), leaveBufferGarbage(clock)];
  return { cancel: () => timers.forEach((timer) => timer.cancel()) };
}
