/** The two functions of the os library that Karmada offers. Local time is UTC, as in Karmada's containers. */
import { Table } from "../lua-table.ts";
import type { LuaValue } from "../values.ts";
import type { Arguments, LibraryFunction } from "./arguments.ts";

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const DATE_TICKS = 200;
/** For each character of a format; up to half of them may be directives. */
const PART_TICKS = 20;
const two = (value: number): string => String(value).padStart(2, "0");

/** `%a` is a fixed text upstream: its layout has the lower-case day name, which Go does not recognize. */
const DATE_PARTS: ReadonlyMap<string, (date: Date) => string> = new Map<string, (date: Date) => string>([
  ["a", () => "mon"],
  ["A", (date) => DAYS[date.getUTCDay()] ?? ""],
  ["b", (date) => (MONTHS[date.getUTCMonth()] ?? "").slice(0, 3)],
  ["B", (date) => MONTHS[date.getUTCMonth()] ?? ""],
  ["c", (date) => render("%d %b %y %H:%M UTC", date)],
  ["d", (date) => two(date.getUTCDate())],
  ["F", (date) => render("%Y-%m-%d", date)],
  ["H", (date) => two(date.getUTCHours())],
  ["I", (date) => two(date.getUTCHours() % 12 || 12)],
  ["m", (date) => two(date.getUTCMonth() + 1)],
  ["M", (date) => two(date.getUTCMinutes())],
  ["p", (date) => (date.getUTCHours() < 12 ? "AM" : "PM")],
  ["P", (date) => (date.getUTCHours() < 12 ? "am" : "pm")],
  ["S", (date) => two(date.getUTCSeconds())],
  ["x", (date) => render("%H/%M/%S", date)],
  ["X", (date) => render("%H:%M:%S", date)],
  ["y", (date) => two(date.getUTCFullYear() % 100)],
  ["Y", (date) => String(date.getUTCFullYear()).padStart(4, "0")],
  ["w", (date) => String(date.getUTCDay())],
  ["z", () => "+0000"],
  ["Z", () => "UTC"],
]);

function render(format: string, date: Date): string {
  return format.replace(/%(.)/gs, (whole, letter: string) =>
    letter === "%" ? "%" : (DATE_PARTS.get(letter)?.(date) ?? whole),
  );
}

function date(args: Arguments): LuaValue {
  const { machine } = args;
  machine.charge(DATE_TICKS);
  const format = args.count === 0 ? "%c" : args.string(1).replace(/^!+/, "");
  const seconds = args.count >= 2 ? args.integer(2) : Math.floor(machine.clock.now() / 1000);
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime())) throw machine.failure(`the time ${seconds} is out of range`);
  machine.charge(format.length * PART_TICKS);
  if (!format.startsWith("*t")) return machine.made(render(format, at));
  machine.allocate(512);
  return Table.ofFields({
    year: at.getUTCFullYear(),
    month: at.getUTCMonth() + 1,
    day: at.getUTCDate(),
    hour: at.getUTCHours(),
    min: at.getUTCMinutes(),
    sec: at.getUTCSeconds(),
    wday: at.getUTCDay() + 1,
    // Upstream does not set these two.
    yday: 0,
    isdst: false,
  });
}

function time(args: Arguments): number {
  args.machine.charge(DATE_TICKS / 4);
  if (args.count === 0) return Math.floor(args.machine.clock.now() / 1000);
  const table = args.table(1);
  const field = (name: string, otherwise: number): number => {
    const value = table.getString(name);
    return typeof value === "number" ? Math.trunc(value) : otherwise;
  };
  const at = new Date(0);
  at.setUTCFullYear(field("year", -1), field("month", -1) - 1, field("day", -1));
  at.setUTCHours(field("hour", 12), field("min", 0), field("sec", 0), 0);
  if (Number.isNaN(at.getTime())) throw args.machine.failure("the time is out of range");
  return at.getTime() / 1000;
}

export const osFunctions: Readonly<Record<string, LibraryFunction>> = { date, time };
