/**
 * Loaded into a process under test: moves its clock by the milliseconds in the file $FLOTILLA_CLOCK_OFFSET, which it reads
 * at its start and again on SIGUSR2. Timers and the checks of certificates keep the machine's time.
 */
import { readFileSync } from "node:fs";

const file = process.env["FLOTILLA_CLOCK_OFFSET"] ?? "";
const systemNow = Date.now.bind(Date);
const SystemDate = Date;
let offsetMs = 0;

const read = (): void => {
  offsetMs = Number(readFileSync(file, "utf8"));
};

if (file !== "") {
  read();
  process.on("SIGUSR2", read);
  class MovedDate extends SystemDate {
    constructor(...given: []) {
      if (given.length === 0) super(systemNow() + offsetMs);
      else super(...given);
    }
    static override now(): number {
      return systemNow() + offsetMs;
    }
  }
  globalThis.Date = MovedDate as DateConstructor;
}
