/** The three iterators of a generic `for`. Each round leaves its values in `k` and `v`. */
import type { Machine } from "./machine.ts";
import type { Table } from "./lua-table.ts";
import type { LuaFunction, LuaValue } from "./values.ts";

export interface LuaIterator {
  k: LuaValue;
  v: LuaValue;
  /** All values of a round, for loops with more than two variables. */
  readonly all: readonly LuaValue[];
  next(): boolean;
}

/** `pairs`: positions, then the other keys in order, including keys that the loop adds. */
export class PairsIterator implements LuaIterator {
  k: LuaValue = undefined;
  v: LuaValue = undefined;
  readonly #machine: Machine;
  readonly #table: Table;
  #position = 0;
  #keys: LuaValue[] | undefined;
  #index = 0;

  constructor(machine: Machine, table: Table) {
    this.#machine = machine;
    this.#table = table;
  }

  get all(): readonly LuaValue[] {
    return [this.k, this.v];
  }

  next(): boolean {
    const table = this.#table;
    if (this.#keys === undefined) {
      while (this.#position < table.a.length) {
        this.#position += 1;
        const value = table.getPosition(this.#position);
        if (value === undefined) continue;
        this.k = this.#position;
        this.v = value;
        return true;
      }
      this.#keys = this.#takeKeys();
    }
    if (this.#nextKey()) return true;
    // Only a table that the loop wrote to can have more keys.
    if (!table.w && table.m === undefined) return false;
    const keys = table.keys();
    if (keys.length <= this.#keys.length) return false;
    this.#keys = this.#takeKeys();
    return this.#nextKey();
  }

  #nextKey(): boolean {
    const keys = this.#keys ?? [];
    while (this.#index < keys.length) {
      const key = keys[this.#index++];
      const value = this.#table.get(key);
      if (value === undefined) continue;
      this.k = key;
      this.v = value;
      return true;
    }
    return false;
  }

  #takeKeys(): LuaValue[] {
    const keys = this.#table.keys();
    this.#machine.allocate(keys.length * 8);
    this.#machine.charge(keys.length);
    return keys;
  }
}

/** `ipairs`: positions up to the first nil. */
export class PositionsIterator implements LuaIterator {
  k: LuaValue = undefined;
  v: LuaValue = undefined;
  readonly #table: Table;
  #position = 0;

  constructor(table: Table) {
    this.#table = table;
  }

  get all(): readonly LuaValue[] {
    return [this.k, this.v];
  }

  next(): boolean {
    this.#position += 1;
    this.k = this.#position;
    this.v = this.#table.getPosition(this.#position);
    return this.v !== undefined;
  }
}

/** Any other function, called with the state and its own last value. */
export class CallIterator implements LuaIterator {
  k: LuaValue = undefined;
  v: LuaValue = undefined;
  all: readonly LuaValue[] = [];
  readonly #machine: Machine;
  readonly #iterator: LuaFunction;
  readonly #state: LuaValue;
  readonly #site: number;
  #control: LuaValue;

  constructor(machine: Machine, iterator: LuaFunction, state: LuaValue, control: LuaValue, site: number) {
    this.#machine = machine;
    this.#iterator = iterator;
    this.#state = state;
    this.#control = control;
    this.#site = site;
  }

  next(): boolean {
    this.#machine.l[this.#machine.d] = this.#site;
    this.all = this.#machine.all(this.#iterator(this.#state, this.#control));
    this.k = this.all[0];
    this.v = this.all[1];
    this.#control = this.k;
    return this.k !== undefined;
  }
}
