-- Half a statement typed above a finding, key by key, then finished.
local t = require('support')

t.run(function()
  local finding = t.findings()[1]
  local fewest = #t.shown('pallas')
  vim.api.nvim_create_autocmd('DiagnosticChanged', {
    callback = function()
      local left = vim.tbl_filter(function(each)
        return each.code == finding.code
      end, t.shown('pallas'))
      fewest = math.min(fewest, #left)
    end,
  })
  vim.api.nvim_win_set_cursor(0, { finding.lnum + 1, 0 })
  vim.api.nvim_feedkeys('O' .. 'plgpu.barrier_wait(' .. vim.keycode('<Esc>'), 'xt', false)
  local broken = t.until_('word of the broken statement', function()
    return vim.tbl_filter(function(each)
      return each.code == 'syntax'
    end, t.shown('pallas'))[1]
  end)
  local during = vim.tbl_filter(function(each)
    return each.code == finding.code
  end, t.shown('pallas'))
  vim.api.nvim_feedkeys('A' .. 'received)' .. vim.keycode('<Esc>'), 'xt', false)
  t.until_('the broken statement to be whole', function()
    local left = t.shown('pallas')
    return #left == 1 and left[1].code == finding.code and left
  end)
  return { before = finding, broken = broken, during = during[1], after = t.shown('pallas')[1], fewest = fewest }
end)
