/**
 * Places in an object: the maps and lists that hold a field, with the keys of what they hold. Lists have their numbers
 * as keys.
 */
export type Places = Map<object, Set<string>>;

export function addPlace(places: Places, holder: object, key: string): void {
  const keys = places.get(holder) ?? new Set();
  places.set(holder, keys.add(key));
}
