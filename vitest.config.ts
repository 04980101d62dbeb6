import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Each file may start database servers of its own; more than two at once only slow each other down.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // A failure has to be seen, not repeated until it passes.
    retry: 0,
  },
})
