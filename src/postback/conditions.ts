/**
 * Conditions of entry and test rules.
 *
 * @module
 */
import { valueOf, type Call, type FieldPlan } from './fields.js'
import type { Condition, When } from './profile.js'

/** Whether all conditions hold for a call; an unreadable value fits none. */
export function holds(when: When, call: Call, plan: FieldPlan): boolean {
  for (const role in when) {
    const condition = when[role]
    if (condition === undefined) continue
    const text = conditionText(call, plan, role)
    if (text === null || !fits(text, condition)) return false
  }
  return true
}

/** The text that rules see: what was received, or the field's default where nothing was. */
export function conditionText(call: Call, plan: FieldPlan, role: string): string | null {
  const value = valueOf(call, plan, role)
  if (value !== null) return value.text
  return plan.byRole.get(role)?.spec.default ?? null
}

/** A text that fulfils a condition, for calls that are made up. */
export function exampleOf(condition: Condition): string {
  if (typeof condition === 'string') return condition
  if ('equals' in condition) return condition.equals
  if ('startsWith' in condition) return condition.startsWith
  return condition[0] ?? ''
}

function fits(text: string, condition: Condition): boolean {
  if (typeof condition === 'string') return text === condition
  if ('equals' in condition) return text === condition.equals
  if ('startsWith' in condition) return text.startsWith(condition.startsWith)
  return condition.includes(text)
}
