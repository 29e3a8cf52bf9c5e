/**
 * A table over plain JSON. It starts on the caller's object or list, which is shared and never modified: reads access
 * it directly, the first write copies that one node. A child container becomes a table when it is first read, and the
 * parent caches it, so that a table is always identical to itself.
 *
 * The order is gopher-lua's: positions first, then other keys in the order in which they were first set; a key that is
 * set to nil keeps its position. A JavaScript object has the same order except for keys that look like array indexes,
 * so a table that gets such a key, or one that is not a string, moves its keys into a Map.
 */
import { setOwn } from "@flotilla/base";
import type { LuaValue } from "./values.ts";

export type Fields = Record<string, unknown>;

const NO_FIELDS: Fields = Object.freeze({});
const NO_ITEMS: readonly unknown[] = Object.freeze([]);
const INDEX_LIKE = /^(?:0|[1-9]\d{0,9})$/;
/** A JavaScript object with more keys than this is slower than a Map. */
const MAX_ADDED = 256;
/** Beyond this a position is an ordinary key. */
const MAX_POSITION = 67108864;

export const isPosition = (key: number): boolean => key > 0 && key < MAX_POSITION && Number.isInteger(key);

export class Table {
  /** Values of string keys: scalars, functions, tables, and unread JSON. */
  h: Fields;
  /** Values at 1, 2, 3, …, likewise. */
  a: unknown[];
  /** Whether `h` is owned by this table and can take a new string key directly. */
  w: boolean;
  /** Whether `a` is owned by this table. */
  owned: boolean;
  /** All keys that are not positions, once there is one that `h` cannot hold in order. */
  m: Map<LuaValue, unknown> | undefined;
  /** Children of shared nodes that were read as tables. */
  kids: Map<string | number, Table> | undefined;
  /** The last child read, since scripts read `items[i].status` many times in a row. Valid until the node is copied. */
  lastKey: string | number | undefined;
  lastKid: Table | undefined;
  /** The current JSON writer; meeting it again means that the table contains itself. */
  writer: object | undefined;
  /** Number of keys added one by one; many are better kept in a Map. */
  added: number;
  /** The original JSON. */
  readonly origin: object | undefined;

  private constructor(h: Fields, a: unknown[], ownsFields: boolean, ownsItems: boolean, origin: object | undefined) {
    this.h = h;
    this.a = a;
    this.w = ownsFields;
    this.owned = ownsItems;
    this.added = 0;
    this.m = undefined;
    this.kids = undefined;
    this.lastKey = undefined;
    this.lastKid = undefined;
    this.writer = undefined;
    this.origin = origin;
  }

  static make(): Table {
    return new Table({}, NO_ITEMS as unknown[], true, false, undefined);
  }

  /** A list of values without other references. */
  static ofList(values: LuaValue[]): Table {
    return new Table(NO_FIELDS, values, false, true, undefined);
  }

  static ofFields(fields: Record<string, LuaValue>): Table {
    return new Table(fields, NO_ITEMS as unknown[], true, false, undefined);
  }

  /** Over JSON that is not modified. */
  static over(json: object): Table {
    if (!Array.isArray(json)) return new Table(json as Fields, NO_ITEMS as unknown[], false, false, json);
    // Scripts see a list without its nulls.
    const items = json.includes(null) ? json.filter((item) => item !== null) : json;
    return new Table(NO_FIELDS, items, false, false, json);
  }

  // Reading.

  getString(key: string): LuaValue {
    if (this.m !== undefined) return this.m.get(key) as LuaValue;
    const value = this.h[key];
    if (typeof value !== "object" && typeof value !== "function") return value as LuaValue;
    // Only functions and `__proto__` can come from the prototype, which scripts must not see.
    if ((typeof value === "function" || key === "__proto__") && !Object.hasOwn(this.h, key)) return undefined;
    return typeof value === "function" ? (value as LuaValue) : this.child(key, value);
  }

  getPosition(position: number): LuaValue {
    const value = this.a[position - 1];
    return typeof value === "object" ? this.child(position, value) : (value as LuaValue);
  }

  get(key: LuaValue): LuaValue {
    if (typeof key === "string") return this.getString(key);
    if (typeof key === "number" && isPosition(key)) return this.getPosition(key);
    return this.m?.get(key) as LuaValue;
  }

  /** Finishes a read of a string key that generated code began with `h.key` and that found an object or nothing. */
  field(key: string, value: unknown): LuaValue {
    if (value === undefined) return this.m === undefined ? undefined : (this.m.get(key) as LuaValue);
    return this.child(key, value);
  }

  /** The Lua value of an object found at a key. */
  child(key: string | number, value: unknown): LuaValue {
    if (this.lastKey === key) return this.lastKid;
    if (value instanceof Table) return value;
    if (value === null || value === undefined) return undefined;
    const known = this.kids?.get(key);
    if (known !== undefined) {
      this.lastKey = key;
      this.lastKid = known;
      return known;
    }
    const table = Table.over(value);
    const isInPlace = typeof key === "number" ? this.owned : this.w;
    if (!isInPlace) {
      (this.kids ??= new Map()).set(key, table);
      this.lastKey = key;
      this.lastKid = table;
    } else if (typeof key === "number") this.a[key - 1] = table;
    else setOwn(this.h, key, table);
    return table;
  }

  /** The position of the last value that is not nil. */
  length(): number {
    const { a } = this;
    let length = a.length;
    while (length > 0 && a[length - 1] === undefined) length -= 1;
    return length;
  }

  // Writing. The caller has charged for it.

  /** Copies shared string keys so that this table owns them. */
  ownFields(): void {
    if (this.w || this.m !== undefined) return;
    this.h = { ...this.h };
    this.w = true;
    this.lastKey = undefined;
    if (this.kids === undefined || Array.isArray(this.origin)) return;
    for (const [key, kid] of this.kids) setOwn(this.h, String(key), kid);
    this.kids = undefined;
  }

  ownItems(): void {
    if (this.owned) return;
    this.a = this.a.slice();
    this.owned = true;
    this.lastKey = undefined;
    if (this.kids === undefined || !Array.isArray(this.origin)) return;
    for (const [key, kid] of this.kids) this.a[Number(key) - 1] = kid;
    this.kids = undefined;
  }

  setString(key: string, value: LuaValue): void {
    if (this.m !== undefined) return this.#setInMap(key, value);
    const isKnown = Object.hasOwn(this.h, key);
    if (value === undefined && !isKnown) return undefined;
    if (!isKnown && (++this.added > MAX_ADDED || INDEX_LIKE.test(key) || key === "__proto__")) {
      this.useMap();
      return this.#setInMap(key, value);
    }
    this.ownFields();
    setOwn(this.h, key, value);
    return undefined;
  }

  /** Sets a position, at most one beyond the end unless the caller has filled the gap. */
  setPosition(position: number, value: LuaValue): void {
    this.ownItems();
    const { a } = this;
    while (a.length < position - 1) a.push(undefined);
    a[position - 1] = value;
  }

  /** Any other key. */
  setOther(key: LuaValue, value: LuaValue): void {
    this.useMap();
    this.#setInMap(key, value);
  }

  #setInMap(key: LuaValue, value: LuaValue): void {
    const map = this.m;
    if (map !== undefined && (value !== undefined || map.has(key))) map.set(key, value);
  }

  useMap(): void {
    if (this.m !== undefined) return;
    const map = new Map<LuaValue, unknown>();
    for (const key of Object.keys(this.h)) map.set(key, this.getString(key));
    if (!Array.isArray(this.origin)) this.kids = undefined;
    this.lastKey = undefined;
    this.m = map;
    this.h = NO_FIELDS;
    this.w = false;
  }

  /** The keys that are not positions, in order. Some may have become nil. */
  keys(): LuaValue[] {
    return this.m === undefined ? Object.keys(this.h) : [...this.m.keys()];
  }
}
