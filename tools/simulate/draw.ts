/** Choices by a seed. */
import type { Random } from "@flotilla/base";

export interface Draw {
  integer(least: number, most: number): number;
  chance(probability: number): boolean;
  one<T>(of: readonly T[]): T;
  some<T>(of: readonly T[], count: number): T[];
}

export function createDraw(random: Random): Draw {
  const integer = (least: number, most: number): number => least + Math.floor(random.next() * (most - least + 1));
  return {
    integer,
    chance: (probability) => random.next() < probability,
    one: (of) => of[integer(0, of.length - 1)] as never,
    some(of, count) {
      const left = [...of];
      return Array.from({ length: count }, () => left.splice(integer(0, left.length - 1), 1)[0] as never);
    },
  };
}
