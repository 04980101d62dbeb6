/**
 * npm hands a signal to the shell between it and this process, and that shell dies without passing it on: whatever this
 * process has started, and its port, would be left behind. So its parent's end is its own signal to stop.
 */
export function endWithParent() {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 200)
  watch.unref()
}
